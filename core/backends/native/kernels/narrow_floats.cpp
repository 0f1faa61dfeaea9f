#include "backends/native/kernels/narrow_floats.h"

#include <algorithm>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/native/kernels/narrow_floats.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "backends/native/kernels/narrow_floats-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fusescope::native::HWY_NAMESPACE {
namespace {

template <class T>
void widenRow(const T* source, float* target, std::size_t count) {
  const F32 d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(loadWide(d, source + i), d, target + i);
  for (; i < count; ++i) target[i] = widened(source[i]);
}

template <class T>
void narrowRow(const float* source, T* target, std::size_t count) {
  const F32 d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) storeNarrow(hn::LoadU(d, source + i), d, target + i);
  for (; i < count; ++i) narrowOne(source[i], target[i]);
}

template <class T>
void roundRow(const float* source, float* target, std::size_t count) {
  const F32 d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(rounded<T>(d, hn::LoadU(d, source + i)), d, target + i);
  for (T one; i < count; ++i) {
    narrowOne(source[i], one);
    target[i] = widened(one);
  }
}

}  // namespace

void widenHalvesHere(const Half* source, float* target, std::size_t count) {
  widenRow(source, target, count);
}
void widenBrainsHere(const Brain* source, float* target, std::size_t count) {
  widenRow(source, target, count);
}
void toHalvesHere(const float* source, Half* target, std::size_t count) {
  narrowRow(source, target, count);
}
void toBrainsHere(const float* source, Brain* target, std::size_t count) {
  narrowRow(source, target, count);
}
void roundHere(DataType type, const float* source, float* target, std::size_t count) {
  type == DataType::F16 ? roundRow<Half>(source, target, count) : roundRow<Brain>(source, target, count);
}

}  // namespace fusescope::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fusescope::native {

HWY_EXPORT(widenHalvesHere);
HWY_EXPORT(widenBrainsHere);
HWY_EXPORT(toHalvesHere);
HWY_EXPORT(toBrainsHere);
HWY_EXPORT(roundHere);

void toFloats(const Half* source, float* target, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(widenHalvesHere)(source, target, count);
}
void toFloats(const Brain* source, float* target, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(widenBrainsHere)(source, target, count);
}
void fromFloats(const float* source, Half* target, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(toHalvesHere)(source, target, count);
}
void fromFloats(const float* source, Brain* target, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(toBrainsHere)(source, target, count);
}
void toFloats(const Floats& source, float* target, std::size_t count) {
  withFloats(source, [&](const auto* from) {
    if constexpr (std::is_same_v<decltype(from), const float*>) {
      std::copy_n(from, count, target);
    } else {
      toFloats(from, target, count);
    }
  });
}
void fromFloats(const float* source, const Floats& target, std::size_t count) {
  if (target.type == DataType::F16) return fromFloats(source, reinterpret_cast<Half*>(target.at), count);
  if (target.type == DataType::BF16) return fromFloats(source, reinterpret_cast<Brain*>(target.at), count);
  std::copy_n(source, count, reinterpret_cast<float*>(target.at));
}
void roundFloats(DataType type, const float* source, float* target, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(roundHere)(type, source, target, count);
}

}  // namespace fusescope::native
#endif
