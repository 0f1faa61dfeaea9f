#include "backends/native/kernels/score_rows.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/native/kernels/score_rows.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "backends/native/kernels/narrow_floats.h"
#include "backends/native/kernels/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fusescope::native::HWY_NAMESPACE {
namespace {

using Kind = ScoreTerm::Kind;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Calculates row[j] = function(row[j], j) for whole vectors. The last one may extend beyond the end of the keys: the
/// memory of scores has room for it.
template <class Function>
HWY_INLINE void eachScore(float* row, std::int64_t keys, Function function) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t j = 0; j < keys; j += lanes) hn::StoreU(function(hn::LoadU(d, row + j), j), d, row + j);
}

/// Returns the operand's elements for the scores from `j` on. Nothing beyond the keys is read.
HWY_INLINE VF operandAt(const float* by, std::int64_t stride, std::int64_t j, std::int64_t keys) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  if (stride == 0) return hn::Set(d, *by);
  if (stride == 1 && j + lanes <= keys) return hn::LoadU(d, by + j);
  if (stride == 1) return loadFirst(d, by + j, keys - j);
  HWY_ALIGN float some[HWY_MAX_BYTES / sizeof(float)] = {};
  for (std::int64_t i = 0; i < std::min(lanes, keys - j); ++i) some[i] = by[(j + i) * stride];
  return hn::Load(d, some);
}

/// Returns a mask that is true for the scores from `j` on whose truth value is not 0.
HWY_INLINE hn::Mask<F32> truthsAt(const std::uint8_t* truths, std::int64_t stride, std::int64_t j, std::int64_t keys) {
  const F32 d;
  const hn::Rebind<std::uint8_t, F32> bytes;
  const hn::RebindToSigned<F32> words;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  HWY_ALIGN std::uint8_t some[HWY_MAX_BYTES / sizeof(float)] = {};
  const std::uint8_t* from = some;
  if (stride == 1 && j + lanes <= keys) {
    from = truths + j;
  } else {
    for (std::int64_t i = 0; i < std::min(lanes, keys - j); ++i) some[i] = truths[(j + i) * stride];
  }
  const auto wide = hn::PromoteTo(words, hn::LoadU(bytes, from));
  return hn::RebindMask(d, hn::Ne(wide, hn::Zero(words)));
}

void applyTerm(const ScoreTermRows& term, std::int64_t r, float* row, std::int64_t keys) {
  const float* by = term.by + r * term.byRow;
  const std::int64_t stride = term.byKey;
  const auto each = [&](auto function) HWY_ATTR {
    eachScore(row, keys, [&](VF x, std::int64_t j) HWY_ATTR { return function(x, operandAt(by, stride, j, keys)); });
  };
  switch (term.kind) {
    case Kind::Multiply:
      return each([](VF x, VF y) HWY_ATTR { return hn::Mul(x, y); });
    case Kind::Add:
      return each([](VF x, VF y) HWY_ATTR { return hn::Add(x, y); });
    case Kind::Subtract:
      return each([](VF x, VF y) HWY_ATTR { return hn::Sub(x, y); });
    case Kind::Divide:
      return each([](VF x, VF y) HWY_ATTR { return hn::Div(x, y); });
    case Kind::SoftCap:
      return each([](VF x, VF y) HWY_ATTR { return hn::Mul(y, tanhOf(F32(), hn::Div(x, y))); });
    case Kind::ToHalf:
      return roundFloats(DataType::F16, row, row, static_cast<std::size_t>(keys));
    case Kind::ToBrain:
      return roundFloats(DataType::BF16, row, row, static_cast<std::size_t>(keys));
    case Kind::WhereTrue:
    case Kind::WhereFalse: {
      const std::uint8_t* truths = term.condition + r * term.conditionRow;
      const bool whenTrue = term.kind == Kind::WhereTrue;
      return eachScore(row, keys, [&](VF x, std::int64_t j) HWY_ATTR {
        const VF y = operandAt(by, stride, j, keys);
        const auto holds = truthsAt(truths, term.conditionKey, j, keys);
        return whenTrue ? hn::IfThenElse(holds, y, x) : hn::IfThenElse(holds, x, y);
      });
    }
  }
}

/// Calculates scale · score + mask and the largest of the results in one pass. Scores beyond the keys become -infinity.
HWY_INLINE float scaledTop(float* row, std::int64_t keys, float scale, const float* mask) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const VF s = hn::Set(d, scale);
  VF top = hn::Set(d, -kInfinity);
  std::int64_t j = 0;
  for (; j + lanes <= keys; j += lanes) {
    VF x = hn::Mul(hn::LoadU(d, row + j), s);
    if (mask != nullptr) x = hn::Add(x, hn::LoadU(d, mask + j));
    hn::StoreU(x, d, row + j);
    top = hn::Max(x, top);
  }
  if (j < keys) {
    const auto held = hn::FirstN(d, static_cast<std::size_t>(keys - j));
    VF x = hn::Mul(hn::LoadU(d, row + j), s);
    if (mask != nullptr) x = hn::Add(x, loadFirst(d, mask + j, keys - j));
    x = hn::IfThenElse(held, x, hn::Set(d, -kInfinity));
    hn::StoreU(x, d, row + j);
    top = hn::Max(x, top);
  }
  return hn::GetLane(hn::MaxOfLanes(d, top));
}

/// Applies the terms to a row and returns its largest score.
HWY_INLINE float applyTerms(std::span<const ScoreTermRows> terms, std::int64_t r, float* row, std::int64_t keys) {
  float scale = 1.0f;
  const float* mask = nullptr;
  const bool scales = !terms.empty() && terms[0].kind == Kind::Multiply && terms[0].byKey == 0;
  std::size_t rest = scales ? 1 : 0;
  if (rest < terms.size() && terms[rest].kind == Kind::Add && terms[rest].byKey == 1) ++rest;
  if (rest == terms.size()) {
    if (scales) scale = terms[0].by[r * terms[0].byRow];
    if (rest > (scales ? 1U : 0U)) mask = terms[rest - 1].by + r * terms[rest - 1].byRow;
  } else {
    for (const ScoreTermRows& term : terms) applyTerm(term, r, row, keys);
  }
  return scaledTop(row, keys, scale, mask);
}

/// Calculates e^(score - shift) in place and returns the sum. It processes whole vectors, because scores beyond the
/// keys are -infinity.
HWY_INLINE float exponents(float* row, std::int64_t keys, float shift) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const VF s = hn::Set(d, shift);
  VF total = hn::Zero(d);
  for (std::int64_t j = 0; j < keys; j += lanes) {
    const VF e = expOfNegative(d, hn::Sub(hn::LoadU(d, row + j), s));
    hn::StoreU(e, d, row + j);
    total = hn::Add(total, e);
  }
  return hn::GetLane(hn::SumOfLanes(d, total));
}

HWY_INLINE void scaleResult(float* row, std::int64_t width, float factor) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const VF f = hn::Set(d, factor);
  std::int64_t i = 0;
  for (; i + lanes <= width; i += lanes) hn::StoreU(hn::Mul(hn::LoadU(d, row + i), f), d, row + i);
  if (i == width) return;
  storeFirst(hn::Mul(loadFirst(d, row + i, width - i), f), d, row + i, width - i);
}

/// Returns whether no key of [begin, end) is visible.
bool allHidden(const KeyMask& mask, std::int64_t begin, std::int64_t end) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  if (mask.numbers != nullptr) {
    const VF hidden = hn::Set(d, mask.hidden);
    std::int64_t j = begin;
    for (; j + lanes <= end; j += lanes)
      if (!hn::AllTrue(d, hn::Le(hn::LoadU(d, mask.numbers + j), hidden))) return false;
    for (; j < end; ++j)
      if (!(mask.numbers[j] <= mask.hidden)) return false;
    return true;
  }
  for (std::int64_t j = begin; j < end; ++j)
    if ((mask.truths[j] != 0) == mask.visible) return false;
  return true;
}

}  // namespace

// If every score so far is -infinity, nothing is subtracted before the exponential, so that the result is 0, or NaN for
// a score that is NaN.
void softmaxBlockHere(const ScoreBlock& block) {
  for (std::int64_t r = 0; r < block.rows; ++r) {
    float* row = block.scores + r * block.stride;
    const float top = applyTerms(block.terms, r, row, block.keys);
    const float before = block.first ? -kInfinity : block.top[r];
    const float next = std::max(before, top);
    const float total = exponents(row, block.keys, next == -kInfinity ? 0.0f : next);
    block.top[r] = next;
    if (block.first) {
      block.total[r] = total;
      continue;
    }
    if (next > before) {
      const float factor = std::exp(before - next);
      block.total[r] *= factor;
      scaleResult(block.result + r * block.resultStride, block.width, factor);
    }
    block.total[r] += total;
  }
}

void divideRowsHere(float* result, std::int64_t stride, std::int64_t width, const float* total, std::int64_t rows) {
  for (std::int64_t r = 0; r < rows; ++r) scaleResult(result + r * stride, width, 1.0f / total[r]);
}

std::pair<std::int64_t, std::int64_t> visibleKeysHere(const KeyMask& mask, std::int64_t keys, std::int64_t step) {
  std::int64_t begin = 0, end = keys;
  while (begin < keys && allHidden(mask, begin, std::min(begin + step, keys))) begin += step;
  if (begin >= keys) return {0, 0};
  while (end > begin) {
    const std::int64_t start = (end - 1) / step * step;
    if (!allHidden(mask, start, end)) break;
    end = start;
  }
  return {begin, end};
}

}  // namespace fusescope::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fusescope::native {

HWY_EXPORT(softmaxBlockHere);
HWY_EXPORT(divideRowsHere);
HWY_EXPORT(visibleKeysHere);

void softmaxBlock(const ScoreBlock& block) {
  HWY_DYNAMIC_DISPATCH(softmaxBlockHere)(block);
}
void divideRows(float* result, std::int64_t stride, std::int64_t width, const float* total, std::int64_t rows) {
  HWY_DYNAMIC_DISPATCH(divideRowsHere)(result, stride, width, total, rows);
}
std::pair<std::int64_t, std::int64_t> visibleKeys(const KeyMask& mask, std::int64_t keys, std::int64_t step) {
  return HWY_DYNAMIC_DISPATCH(visibleKeysHere)(mask, keys, step);
}

}  // namespace fusescope::native
#endif
