#include "backends/native/kernels/tape.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/native/kernels/byte_floats.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

// Conversions between bytes in memory and floats in registers.
HWY_BEFORE_NAMESPACE();
namespace fusescope::native::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::ScalableTag<float>;
using Words = hn::RebindToSigned<Floats>;

template <class Byte>
HWY_INLINE void widen(const Byte* source, float* target, std::size_t count) {
  const Floats d;
  const hn::Rebind<Byte, Floats> bytes;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::ConvertTo(d, hn::PromoteTo(Words(), hn::LoadU(bytes, source + i))), d, target + i);
  for (; i < count; ++i) target[i] = static_cast<float>(source[i]);
}

template <class Byte>
HWY_INLINE void narrow(const float* source, Byte* target, std::size_t count) {
  const Floats d;
  const hn::Rebind<Byte, Floats> bytes;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::DemoteTo(bytes, hn::ConvertTo(Words(), hn::LoadU(d, source + i))), bytes, target + i);
  for (; i < count; ++i) target[i] = static_cast<Byte>(static_cast<std::int32_t>(source[i]));
}

}  // namespace

void widenUnsigned(const std::uint8_t* source, float* target, std::size_t count) {
  widen(source, target, count);
}
void widenSigned(const std::int8_t* source, float* target, std::size_t count) {
  widen(source, target, count);
}
void narrowUnsigned(const float* source, std::uint8_t* target, std::size_t count) {
  narrow(source, target, count);
}
void narrowSigned(const float* source, std::int8_t* target, std::size_t count) {
  narrow(source, target, count);
}

}  // namespace fusescope::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fusescope::native {

HWY_EXPORT(widenUnsigned);
HWY_EXPORT(widenSigned);
HWY_EXPORT(narrowUnsigned);
HWY_EXPORT(narrowSigned);

void toFloats(const std::uint8_t* source, float* target, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(widenUnsigned)(source, target, count);
}

void toFloats(const std::int8_t* source, float* target, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(widenSigned)(source, target, count);
}

void toFloats(const TruthByte* source, float* target, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) target[i] = source[i].value != 0 ? 1.0f : 0.0f;
}

void fromFloats(const float* source, std::uint8_t* target, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(narrowUnsigned)(source, target, count);
}

void fromFloats(const float* source, std::int8_t* target, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(narrowSigned)(source, target, count);
}

void fromFloats(const float* source, TruthByte* target, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) target[i].value = source[i] != 0.0f;
}

}  // namespace fusescope::native
#endif
