#include "backends/native/kernels/pool_rows.h"

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/native/kernels/pool_rows.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "backends/native/kernels/narrow_floats-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fusescope::native::HWY_NAMESPACE {
namespace {

constexpr float kLeast = -std::numeric_limits<float>::infinity();

HWY_INLINE VF pooled(VF sum, VF x, bool average) {
  return average ? hn::Add(sum, x) : maximumOf(sum, x);
}

template <class T>
VF poolVector(const T* from, std::int64_t count, const PoolWindow& window) {
  const F32 d;
  const bool whole = count >= static_cast<std::int64_t>(hn::Lanes(d));
  VF result = hn::Set(d, window.average ? 0.0f : kLeast);
  for (const std::int64_t place : window.places)
    result = pooled(result, whole ? loadWide(d, from + place) : loadFirstWide(d, from + place, count), window.average);
  return window.average ? hn::Mul(result, hn::Set(d, window.factor)) : result;
}

template <class From, class To>
void pool(const From* from, To* target, std::int64_t inner, const PoolWindow& window) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = 0; i < inner; i += lanes) {
    const VF result = poolVector(from + i, inner - i, window);
    if (inner - i >= lanes) {
      storeNarrow(result, d, target + i);
    } else {
      storeFirstNarrow(result, d, target + i, inner - i);
    }
  }
}

}  // namespace

void poolPlacesHere(const Floats& from, const Floats& target, std::int64_t inner, const PoolWindow& window) {
  withFloats(from, [&](const auto* source) {
    withFloats(target, [&](const auto* to) {
      using To = std::remove_cv_t<std::remove_pointer_t<decltype(to)>>;
      pool(source, const_cast<To*>(to), inner, window);
    });
  });
}

void poolRowHere(const float* row, std::int64_t count, bool average, float* accumulator) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(pooled(hn::LoadU(d, accumulator + i), hn::LoadU(d, row + i), average), d, accumulator + i);
  if (i == count) return;
  storeFirst(pooled(loadFirst(d, accumulator + i, count - i), loadFirst(d, row + i, count - i), average), d,
             accumulator + i, count - i);
}

}  // namespace fusescope::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fusescope::native {

HWY_EXPORT(poolPlacesHere);
HWY_EXPORT(poolRowHere);

void poolPlaces(const Floats& from, const Floats& target, std::int64_t inner, const PoolWindow& window) {
  HWY_DYNAMIC_DISPATCH(poolPlacesHere)(from, target, inner, window);
}
void poolRow(const float* row, std::int64_t count, bool average, float* accumulator) {
  HWY_DYNAMIC_DISPATCH(poolRowHere)(row, count, average, accumulator);
}

}  // namespace fusescope::native
#endif
