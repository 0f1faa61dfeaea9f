#include "backends/native/kernels/resample_rows.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/native/kernels/resample_rows.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "backends/native/kernels/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fusescope::native::HWY_NAMESPACE {

std::int64_t resampleLanes() {
  return static_cast<std::int64_t>(hn::Lanes(F32()));
}

void weightedRowsHere(const float* from, std::int64_t inner, const std::int64_t* places, const float* weights,
                      std::size_t taps, float* to) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= inner; i += lanes) {
    VF sum = hn::Zero(d);
    for (std::size_t t = 0; t < taps; ++t)
      sum = hn::MulAdd(hn::Set(d, weights[t]), hn::LoadU(d, from + places[t] * inner + i), sum);
    hn::StoreU(sum, d, to + i);
  }
  if (i == inner) return;
  VF sum = hn::Zero(d);
  for (std::size_t t = 0; t < taps; ++t)
    sum = hn::MulAdd(hn::Set(d, weights[t]), loadFirst(d, from + places[t] * inner + i, inner - i), sum);
  storeFirst(sum, d, to + i, inner - i);
}

// An element whose weight is 0 contributes nothing, even if it is infinite.
void resampleLineHere(const LineResampling::Plan& plan, const float* from, float* to) {
  const F32 d;
  const hn::RebindToSigned<F32> words;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int32_t* indices = plan.indices.data();
  const float* weights = plan.weights.data();
  std::size_t vector = 0;
  for (std::int64_t k = 0; k < plan.out; k += lanes, ++vector) {
    VF held = hn::Zero(d);
    if (plan.inOneVector) {
      const std::int64_t base = plan.bases[vector], rest = plan.in - base;
      held = rest >= lanes ? hn::LoadU(d, from + base) : loadFirst(d, from + base, rest);
    }
    VF sum = hn::Zero(d);
    for (std::int64_t t = 0; t < plan.taps; ++t, indices += lanes, weights += lanes) {
      const auto index = hn::LoadU(words, indices);
      const VF weight = hn::LoadU(d, weights);
      const VF x =
          plan.inOneVector ? hn::TableLookupLanes(held, hn::IndicesFromVec(d, index)) : hn::GatherIndex(d, from, index);
      sum = hn::MulAdd(weight, hn::IfThenElseZero(hn::Ne(weight, hn::Zero(d)), x), sum);
    }
    if (k + lanes <= plan.out) {
      hn::StoreU(sum, d, to + k);
    } else {
      storeFirst(sum, d, to + k, plan.out - k);
    }
  }
}

}  // namespace fusescope::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fusescope::native {

HWY_EXPORT(resampleLanes);
HWY_EXPORT(weightedRowsHere);
HWY_EXPORT(resampleLineHere);

TapList::TapList(const std::vector<ops::Taps>& taps) {
  for (const ops::Taps& place : taps) {
    for (const auto& [index, weight] : place) {
      if (weight == 0) continue;
      places.push_back(index);
      weights.push_back(static_cast<float>(weight));
    }
    ends.push_back(places.size());
  }
}

void weightedRows(const float* from, std::int64_t inner, const std::int64_t* places, const float* weights,
                  std::size_t taps, float* to) {
  HWY_DYNAMIC_DISPATCH(weightedRowsHere)(from, inner, places, weights, taps, to);
}

LineResampling::LineResampling(const TapList& taps, std::int64_t in) {
  const std::int64_t lanes = HWY_DYNAMIC_DISPATCH(resampleLanes)();
  const auto out = static_cast<std::int64_t>(taps.ends.size());
  const auto first = [&](std::int64_t k) { return k == 0 ? 0 : taps.ends[static_cast<std::size_t>(k - 1)]; };
  const auto count = [&](std::int64_t k) { return taps.ends[static_cast<std::size_t>(k)] - first(k); };
  m_plan.in = in;
  m_plan.out = out;
  m_plan.inOneVector = true;
  for (std::int64_t k = 0; k < out; ++k) m_plan.taps = std::max(m_plan.taps, static_cast<std::int64_t>(count(k)));
  for (std::int64_t k = 0; k < out; k += lanes) {
    const std::size_t end = taps.ends[static_cast<std::size_t>(std::min(k + lanes, out) - 1)];
    const auto [low, high] = std::minmax_element(taps.places.begin() + static_cast<std::ptrdiff_t>(first(k)),
                                                 taps.places.begin() + static_cast<std::ptrdiff_t>(end));
    const bool any = first(k) < end;
    m_plan.bases.push_back(any ? static_cast<std::int32_t>(*low) : 0);
    m_plan.inOneVector = m_plan.inOneVector && (!any || *high - *low < lanes);
  }
  for (std::int64_t k = 0; k < out; k += lanes) {
    const std::int32_t base = m_plan.inOneVector ? m_plan.bases[static_cast<std::size_t>(k / lanes)] : 0;
    for (std::int64_t t = 0; t < m_plan.taps; ++t)
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        const bool has = k + lane < out && t < static_cast<std::int64_t>(count(k + lane));
        const std::size_t tap = has ? first(k + lane) + static_cast<std::size_t>(t) : 0;
        m_plan.indices.push_back(has ? static_cast<std::int32_t>(taps.places[tap]) - base : 0);
        m_plan.weights.push_back(has ? taps.weights[tap] : 0.0f);
      }
  }
}

void LineResampling::run(const float* from, float* to) const {
  HWY_DYNAMIC_DISPATCH(resampleLineHere)(m_plan, from, to);
}

}  // namespace fusescope::native
#endif
