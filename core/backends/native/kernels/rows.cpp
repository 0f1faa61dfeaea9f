#include "backends/native/kernels/rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/native/kernels/rows.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "backends/native/kernels/narrow_floats-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fusescope::native::HWY_NAMESPACE {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNaN = std::numeric_limits<float>::quiet_NaN();

/// Folds a row: first four vectors side by side, then the elements that do not fill a vector, completed with `neutral`,
/// and finally the lanes.
template <class T, class Combine, class Horizontal>
HWY_INLINE float fold(const T* row, std::int64_t count, float start, float neutral, Combine combine,
                      Horizontal horizontal) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  VF a0 = hn::Set(d, start), a1 = a0, a2 = a0, a3 = a0;
  std::int64_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    a0 = combine(a0, loadWide(d, row + i));
    a1 = combine(a1, loadWide(d, row + i + lanes));
    a2 = combine(a2, loadWide(d, row + i + 2 * lanes));
    a3 = combine(a3, loadWide(d, row + i + 3 * lanes));
  }
  for (; i + lanes <= count; i += lanes) a0 = combine(a0, loadWide(d, row + i));
  if (i < count) {
    const auto mask = hn::FirstN(d, static_cast<std::size_t>(count - i));
    a1 = combine(a1, hn::IfThenElse(mask, loadFirstWide(d, row + i, count - i), hn::Set(d, neutral)));
  }
  return horizontal(a0, a1, a2, a3);
}

HWY_INLINE float sumOf(VF a0, VF a1, VF a2, VF a3) {
  const F32 d;
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a0, a1), hn::Add(a2, a3))));
}

template <class T>
float sum(const T* row, std::int64_t count) {
  return fold(
      row, count, 0.0f, 0.0f, [](VF a, VF x) HWY_ATTR { return hn::Add(a, x); },
      [](VF a, VF b, VF c, VF e) HWY_ATTR { return sumOf(a, b, c, e); });
}

template <class T>
float sumSquares(const T* row, std::int64_t count, float centre) {
  const F32 d;
  const VF c = hn::Set(d, centre);
  return fold(
      row, count, 0.0f, centre,
      [=](VF a, VF x) HWY_ATTR {
        const VF y = hn::Sub(x, c);
        return hn::MulAdd(y, y, a);
      },
      [](VF a, VF b, VF e, VF f) HWY_ATTR { return sumOf(a, b, e, f); });
}

template <class T>
float sumAbsolute(const T* row, std::int64_t count) {
  return fold(
      row, count, 0.0f, 0.0f, [](VF a, VF x) HWY_ATTR { return hn::Add(a, hn::Abs(x)); },
      [](VF a, VF b, VF c, VF e) HWY_ATTR { return sumOf(a, b, c, e); });
}

/// Returns the largest element of a row, for a softmax. If an element is NaN the result may be any number, because the
/// whole softmax becomes NaN anyway.
template <class T>
float top(const T* row, std::int64_t count) {
  const F32 d;
  return fold(
      row, count, -kInfinity, -kInfinity, [](VF a, VF x) HWY_ATTR { return hn::Max(x, a); },
      [=](VF a, VF b, VF c, VF e)
          HWY_ATTR { return hn::GetLane(hn::MaxOfLanes(d, hn::Max(hn::Max(a, b), hn::Max(c, e)))); });
}

/// Returns the largest element, or NaN if an element is NaN.
template <class T>
float largest(const T* row, std::int64_t count) {
  const F32 d;
  return fold(
      row, count, -kInfinity, -kInfinity, [](VF a, VF x) HWY_ATTR { return maximumOf(a, x); },
      [=](VF a, VF b, VF c, VF e) HWY_ATTR {
        const VF all = maximumOf(maximumOf(a, b), maximumOf(c, e));
        return anyNaN(d, all) ? kNaN : hn::GetLane(hn::MaxOfLanes(d, all));
      });
}

template <class T>
float smallest(const T* row, std::int64_t count) {
  const F32 d;
  return fold(
      row, count, kInfinity, kInfinity, [](VF a, VF x) HWY_ATTR { return minimumOf(a, x); },
      [=](VF a, VF b, VF c, VF e) HWY_ATTR {
        const VF all = minimumOf(minimumOf(a, b), minimumOf(c, e));
        return anyNaN(d, all) ? kNaN : hn::GetLane(hn::MinOfLanes(d, all));
      });
}

/// Calculates target = e^(row - shift), where shift is the largest element of the row. Returns the sum.
float expRow(const float* row, float* target, std::int64_t count, float shift) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const VF s = hn::Set(d, shift);
  VF total = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const VF e = expOfNegative(d, hn::Sub(hn::LoadU(d, row + i), s));
    hn::StoreU(e, d, target + i);
    total = hn::Add(total, e);
  }
  if (i < count) {
    const auto mask = hn::FirstN(d, static_cast<std::size_t>(count - i));
    const VF e = expOfNegative(d, hn::Sub(loadFirst(d, row + i, count - i), s));
    storeFirst(e, d, target + i, count - i);
    total = hn::Add(total, hn::IfThenElseZero(mask, e));
  }
  return hn::GetLane(hn::SumOfLanes(d, total));
}

/// Calculates target = row·factor + shift.
void affineRow(const float* row, float* target, std::int64_t count, float factor, float shift) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const VF f = hn::Set(d, factor), s = hn::Set(d, shift);
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(hn::MulAdd(hn::LoadU(d, row + i), f, s), d, target + i);
  if (i == count) return;
  storeFirst(hn::MulAdd(loadFirst(d, row + i, count - i), f, s), d, target + i, count - i);
}

}  // namespace

void softmaxHere(const float* row, float* target, std::int64_t count, bool logarithm) {
  const float greatest = top(row, count);
  if (!logarithm) {
    const float total = expRow(row, target, count, greatest);
    affineRow(target, target, count, 1.0f / total, 0.0f);
    return;
  }
  double total = 0;
  for (std::int64_t i = 0; i < count; ++i) total += std::exp(static_cast<double>(row[i] - greatest));
  affineRow(row, target, count, 1.0f, -greatest - static_cast<float>(std::log(total)));
}

void normHere(const float* row, float* target, std::int64_t count, const NormRow& how, float* mean, float* inverse) {
  const float extent = static_cast<float>(count);
  const float centre = how.centred ? sum(row, count) / extent : 0.0f;
  const float factor = 1.0f / std::sqrt(sumSquares(row, count, centre) / extent + how.epsilon);
  if (mean != nullptr) *mean = centre;
  if (inverse != nullptr) *inverse = factor;
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const VF c = hn::Set(d, centre), f = hn::Set(d, factor);
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    VF x = hn::Mul(hn::Sub(hn::LoadU(d, row + i), c), f);
    if (how.scale != nullptr) x = hn::Mul(x, hn::LoadU(d, how.scale + i));
    if (how.bias != nullptr) x = hn::Add(x, hn::LoadU(d, how.bias + i));
    hn::StoreU(x, d, target + i);
  }
  if (i == count) return;
  VF x = hn::Mul(hn::Sub(loadFirst(d, row + i, count - i), c), f);
  if (how.scale != nullptr) x = hn::Mul(x, loadFirst(d, how.scale + i, count - i));
  if (how.bias != nullptr) x = hn::Add(x, loadFirst(d, how.bias + i, count - i));
  storeFirst(x, d, target + i, count - i);
}

namespace {

/// Sums of squares below this number, or beyond the largest float, may be inexact because of underflow or overflow.
/// They are summed again in double precision.
constexpr float kLeastSquares = 1e-30f;

template <class T>
float euclideanNorm(const T* row, std::int64_t count) {
  const float squares = sumSquares(row, count, 0.0f);
  if (squares >= kLeastSquares && squares < kInfinity) return std::sqrt(squares);
  double exact = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double x = widened(row[i]);
    exact += x * x;
  }
  return static_cast<float>(std::sqrt(exact));
}

template <class T>
float reduced(const T* row, std::int64_t count, ReduceKind kind) {
  switch (kind) {
    case ReduceKind::Sum:
      return sum(row, count);
    case ReduceKind::Mean:
      return sum(row, count) / static_cast<float>(count);
    case ReduceKind::Max:
      return largest(row, count);
    case ReduceKind::Min:
      return smallest(row, count);
    case ReduceKind::SumSquare:
      return sumSquares(row, count, 0.0f);
    case ReduceKind::L1:
      return sumAbsolute(row, count);
    case ReduceKind::L2:
      return euclideanNorm(row, count);
    case ReduceKind::LogSum:
      return std::log(sum(row, count));
    case ReduceKind::Prod: {
      float product = 1.0f;
      for (std::int64_t i = 0; i < count; ++i) product *= widened(row[i]);
      return product;
    }
    case ReduceKind::LogSumExp: {
      const float greatest = largest(row, count);
      if (!std::isfinite(greatest)) return greatest;
      double total = 0;
      for (std::int64_t i = 0; i < count; ++i) total += std::exp(static_cast<double>(widened(row[i]) - greatest));
      return greatest + static_cast<float>(std::log(total));
    }
  }
  return 0;
}

template <class T>
void reducedColumns(const T* rows, std::int64_t count, std::int64_t inner, ReduceKind kind, float* target) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const bool max = kind == ReduceKind::Max, min = kind == ReduceKind::Min, squares = kind == ReduceKind::SumSquare;
  const float start = max ? -kInfinity : min ? kInfinity : 0.0f;
  const float factor = kind == ReduceKind::Mean ? 1.0f / static_cast<float>(count) : 1.0f;
  for (std::int64_t i = 0; i < inner; i += lanes) {
    const bool whole = inner - i >= lanes;
    VF a = hn::Set(d, start);
    for (std::int64_t r = 0; r < count; ++r) {
      const T* from = rows + r * inner + i;
      const VF x = whole ? loadWide(d, from) : loadFirstWide(d, from, inner - i);
      a = max ? maximumOf(a, x) : min ? minimumOf(a, x) : squares ? hn::MulAdd(x, x, a) : hn::Add(a, x);
    }
    a = hn::Mul(a, hn::Set(d, factor));
    if (whole) {
      hn::StoreU(a, d, target + i);
    } else {
      storeFirst(a, d, target + i, inner - i);
    }
  }
}

/// Writes the exponentials of one vector of columns to `own`, whose rows are `block` apart, and returns their sums.
/// Lanes beyond `columns` have no meaning.
template <class T>
HWY_INLINE VF columnExponents(const T* rows, std::int64_t count, std::int64_t stride, std::int64_t columns, VF top,
                              float* own, std::int64_t block) {
  const F32 d;
  const bool whole = columns >= static_cast<std::int64_t>(hn::Lanes(d));
  VF total = hn::Zero(d);
  for (std::int64_t r = 0; r < count; ++r) {
    const T* from = rows + r * stride;
    const VF x = whole ? loadWide(d, from) : loadFirstWide(d, from, columns);
    const VF e = expOfNegative(d, hn::Sub(x, top));
    hn::StoreU(e, d, own + r * block);
    total = hn::Add(total, e);
  }
  return total;
}

template <class T>
HWY_INLINE VF columnTops(const T* rows, std::int64_t count, std::int64_t stride, std::int64_t columns) {
  const F32 d;
  const bool whole = columns >= static_cast<std::int64_t>(hn::Lanes(d));
  VF top = hn::Set(d, -kInfinity);
  for (std::int64_t r = 0; r < count; ++r) {
    const T* from = rows + r * stride;
    top = hn::Max(whole ? loadWide(d, from) : loadFirstWide(d, from, columns), top);
  }
  return top;
}

constexpr std::int64_t kLanes = HWY_MAX_BYTES / 4;
constexpr std::int64_t kBlock = 2 * kLanes;

template <class T>
void storeColumns(const float* own, T* target, std::int64_t count, std::int64_t stride, std::int64_t columns) {
  const F32 d;
  for (std::int64_t r = 0; r < count; ++r, own += kBlock, target += stride) {
    const VF x = hn::LoadU(d, own);
    if (columns >= kLanes) {
      storeNarrow(x, d, target);
    } else {
      storeFirstNarrow(x, d, target, columns);
    }
  }
}

/// Calculates the softmax, or its logarithm, of at most one vector of columns in `own` [count, kBlock].
template <class T>
void softmaxOfColumns(const T* rows, std::int64_t count, std::int64_t stride, std::int64_t columns, bool logarithm,
                      float* own) {
  const F32 d;
  const VF top = columnTops(rows, count, stride, columns);
  const VF total = columnExponents(rows, count, stride, columns, top, own, kBlock);
  const VF factor = hn::Div(hn::Set(d, 1.0f), total), shift = hn::Add(top, logOf(d, total));
  for (std::int64_t r = 0; r < count; ++r, own += kBlock) {
    if (!logarithm) {
      hn::StoreU(hn::Mul(hn::LoadU(d, own), factor), d, own);
      continue;
    }
    const T* from = rows + r * stride;
    hn::StoreU(hn::Sub(columns >= kLanes ? loadWide(d, from) : loadFirstWide(d, from, columns), shift), d, own);
  }
}

}  // namespace

float reduceHere(const Floats& row, std::int64_t count, ReduceKind kind) {
  return withFloats(row, [&](const auto* elements) { return reduced(elements, count, kind); });
}

void reduceColumnsHere(const Floats& rows, std::int64_t count, std::int64_t inner, ReduceKind kind, float* target) {
  withFloats(rows, [&](const auto* elements) { reducedColumns(elements, count, inner, kind, target); });
}

std::int64_t blockHere() {
  return kBlock;
}

void softmaxColumnsHere(const Floats& rows, const Floats& target, std::int64_t count, std::int64_t stride,
                        std::int64_t columns, bool logarithm, float* own) {
  for (std::int64_t at = 0; at < columns; at += kLanes) {
    withFloats(rows.from(at), [&](const auto* elements) {
      softmaxOfColumns(elements, count, stride, columns - at, logarithm, own + at);
    });
    withFloats(target.from(at), [&](const auto* elements) {
      using T = std::remove_cv_t<std::remove_pointer_t<decltype(elements)>>;
      storeColumns(own + at, const_cast<T*>(elements), count, stride, columns - at);
    });
  }
}

}  // namespace fusescope::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fusescope::native {

HWY_EXPORT(softmaxHere);
HWY_EXPORT(normHere);
HWY_EXPORT(reduceHere);
HWY_EXPORT(reduceColumnsHere);
HWY_EXPORT(blockHere);
HWY_EXPORT(softmaxColumnsHere);

void softmaxRow(const float* row, float* target, std::int64_t count, bool logarithm) {
  HWY_DYNAMIC_DISPATCH(softmaxHere)(row, target, count, logarithm);
}
void normRow(const float* row, float* target, std::int64_t count, const NormRow& how, float* mean, float* inverse) {
  HWY_DYNAMIC_DISPATCH(normHere)(row, target, count, how, mean, inverse);
}
float reduceRow(const Floats& row, std::int64_t count, ReduceKind kind) {
  return HWY_DYNAMIC_DISPATCH(reduceHere)(row, count, kind);
}
void reduceColumns(const Floats& rows, std::int64_t count, std::int64_t inner, ReduceKind kind, float* target) {
  HWY_DYNAMIC_DISPATCH(reduceColumnsHere)(rows, count, inner, kind, target);
}
std::int64_t columnBlock() {
  return HWY_DYNAMIC_DISPATCH(blockHere)();
}
void softmaxColumns(const Floats& rows, const Floats& target, std::int64_t count, std::int64_t stride,
                    std::int64_t columns, bool logarithm, float* own) {
  HWY_DYNAMIC_DISPATCH(softmaxColumnsHere)(rows, target, count, stride, columns, logarithm, own);
}

}  // namespace fusescope::native
#endif
