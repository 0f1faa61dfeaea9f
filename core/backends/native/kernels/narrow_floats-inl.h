// Reads and writes vectors of floats in memory of 16 bits per element. This file is compiled once per instruction set.
#if defined(FUSESCOPE_NATIVE_NARROW_FLOATS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSESCOPE_NATIVE_NARROW_FLOATS_INL_H
#undef FUSESCOPE_NATIVE_NARROW_FLOATS_INL_H
#else
#define FUSESCOPE_NATIVE_NARROW_FLOATS_INL_H
#endif

#include <hwy/highway.h>

#include <cstring>
#include <type_traits>

#include "backends/native/kernels/simd_math-inl.h"
#include "backends/native/kernels/stored_floats.h"
#include "base/float_bits.h"

HWY_BEFORE_NAMESPACE();
namespace fusescope::native::HWY_NAMESPACE {

using U16 = hn::Rebind<std::uint16_t, F32>;

HWY_INLINE VF widenBrain(F32 d, hn::Vec<U16> bits) {
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(hn::RebindToUnsigned<F32>(), bits)));
}

/// Rounds `v` to bf16, to nearest even, and returns the bits in the lower halves of the lanes. NaN becomes a quiet NaN.
HWY_INLINE hn::Vec<hn::RebindToUnsigned<F32>> brainBits(F32, VF v) {
  const hn::RebindToUnsigned<F32> d;
  const auto bits = hn::BitCast(d, v);
  const auto upper = hn::ShiftRight<16>(bits);
  const auto odd = hn::And(upper, hn::Set(d, 1));
  const auto nearest = hn::ShiftRight<16>(hn::Add(hn::Add(bits, hn::Set(d, 0x7fff)), odd));
  return hn::IfThenElse(hn::RebindMask(d, hn::IsNaN(v)), hn::Or(upper, hn::Set(d, 0x40)), nearest);
}

HWY_INLINE VF loadWide(F32, const float* from) {
  return hn::LoadU(F32(), from);
}
HWY_INLINE VF loadWide(F32 d, const Brain* from) {
  return widenBrain(d, hn::LoadU(U16(), reinterpret_cast<const std::uint16_t*>(from)));
}
HWY_INLINE void storeNarrow(VF v, F32, float* to) {
  hn::StoreU(v, F32(), to);
}
HWY_INLINE void storeNarrow(VF v, F32 d, Brain* to) {
  const hn::RebindToSigned<F32> integers;
  const U16 narrow;
  hn::StoreU(hn::DemoteTo(narrow, hn::BitCast(integers, brainBits(d, v))), narrow,
             reinterpret_cast<std::uint16_t*>(to));
}

#if HWY_TARGET <= HWY_AVX2  // which includes F16C
HWY_INLINE VF loadWide(F32 d, const Half* from) {
  const hn::Rebind<hwy::float16_t, F32> narrow;
  return hn::PromoteTo(d, hn::LoadU(narrow, reinterpret_cast<const hwy::float16_t*>(from)));
}
HWY_INLINE void storeNarrow(VF v, F32, Half* to) {
  const hn::Rebind<hwy::float16_t, F32> narrow;
  hn::StoreU(hn::DemoteTo(narrow, v), narrow, reinterpret_cast<hwy::float16_t*>(to));
}
#else
HWY_INLINE VF loadWide(F32 d, const Half* from) {
  HWY_ALIGN float some[HWY_MAX_BYTES / sizeof(float)];
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) some[i] = fromFloat16Bits(from[i].bits);
  return hn::Load(d, some);
}
HWY_INLINE void storeNarrow(VF v, F32 d, Half* to) {
  HWY_ALIGN float some[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(v, d, some);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) to[i].bits = toFloat16Bits(some[i]);
}
#endif

HWY_INLINE float widened(float value) {
  return value;
}
HWY_INLINE float widened(Half value) {
  return fromFloat16Bits(value.bits);
}
HWY_INLINE float widened(Brain value) {
  return fromBFloat16Bits(value.bits);
}
HWY_INLINE void narrowOne(float value, Half& target) {
  target.bits = toFloat16Bits(value);
}
HWY_INLINE void narrowOne(float value, Brain& target) {
  target.bits = toBFloat16Bits(value);
}

/// Like loadFirst(): reads fewer elements than a vector has; the other lanes are zero.
template <class T>
HWY_INLINE VF loadFirstWide(F32 d, const T* from, std::int64_t count) {
  if constexpr (std::is_same_v<T, float>) {
    return loadFirst(d, from, count);
  } else {
    T some[HWY_MAX_BYTES / sizeof(float)] = {};
    std::memcpy(some, from, static_cast<std::size_t>(count) * sizeof(T));
    return loadWide(d, some);
  }
}
/// Like storeFirst(): writes the first `count` elements.
template <class T>
HWY_INLINE void storeFirstNarrow(VF v, F32 d, T* to, std::int64_t count) {
  if constexpr (std::is_same_v<T, float>) {
    storeFirst(v, d, to, count);
  } else {
    T some[HWY_MAX_BYTES / sizeof(float)];
    storeNarrow(v, d, some);
    std::memcpy(to, some, static_cast<std::size_t>(count) * sizeof(T));
  }
}

/// Returns `v` rounded to the type T, as f32.
template <class T>
HWY_INLINE VF rounded(F32 d, VF v) {
  if constexpr (std::is_same_v<T, Brain>) {
    return hn::BitCast(d, hn::ShiftLeft<16>(brainBits(d, v)));
  } else {
    T some[HWY_MAX_BYTES / sizeof(float)];
    storeNarrow(v, d, some);
    return loadWide(d, some);
  }
}

}  // namespace fusescope::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FUSESCOPE_NATIVE_NARROW_FLOATS_INL_H
