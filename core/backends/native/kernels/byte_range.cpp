#include "backends/native/kernels/byte_range.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/native/kernels/byte_range.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace fusescope::native::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using I32 = hn::ScalableTag<std::int32_t>;
using VF = hn::Vec<F32>;

std::uint8_t codeOf(float value, ByteScale by) {
  const float moved = std::nearbyint(value / by.scale) + static_cast<float>(by.zero);
  return static_cast<std::uint8_t>(moved > 0.0F ? std::min(moved, 255.0F) : 0.0F);
}

}  // namespace

FloatRange rangeHere(const float* values, std::int64_t count) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  // If one operand is NaN, the result is the second one, as x86's instructions return it. On other processors the
  // comparison has the same result.
  const auto least = [](VF x, VF so) HWY_ATTR { return hn::IfThenElse(hn::Lt(x, so), x, so); };
  const auto most = [](VF x, VF so) HWY_ATTR { return hn::IfThenElse(hn::Gt(x, so), x, so); };
  VF low = hn::Zero(d), high = low, low2 = low, high2 = low;
  std::int64_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    const VF a = hn::LoadU(d, values + i), b = hn::LoadU(d, values + i + lanes);
    low = least(a, low);
    high = most(a, high);
    low2 = least(b, low2);
    high2 = most(b, high2);
  }
  FloatRange range{hn::GetLane(hn::MinOfLanes(d, hn::Min(low, low2))),
                   hn::GetLane(hn::MaxOfLanes(d, hn::Max(high, high2)))};
  for (; i < count; ++i) {
    range.least = values[i] < range.least ? values[i] : range.least;
    range.most = values[i] > range.most ? values[i] : range.most;
  }
  return range;
}

void quantizeHere(const float* values, std::int64_t count, ByteScale by, std::uint8_t* codes) {
  const F32 d;
  const I32 integers;
  const hn::Rebind<std::uint8_t, F32> bytes;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const VF scale = hn::Set(d, by.scale), zero = hn::Set(d, static_cast<float>(by.zero));
  const VF floor = hn::Zero(d), ceiling = hn::Set(d, 255.0F);
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const VF moved = hn::Add(hn::Round(hn::Div(hn::LoadU(d, values + i), scale)), zero);
    const VF held = hn::IfThenElseZero(hn::Gt(moved, floor), hn::Min(moved, ceiling));
    hn::StoreU(hn::DemoteTo(bytes, hn::ConvertTo(integers, held)), bytes, codes + i);
  }
  for (; i < count; ++i) codes[i] = codeOf(values[i], by);
}

void scaleSumsHere(const std::int32_t* sums, std::int64_t count, float factor, const float* scales, const float* bias,
                   float* values) {
  const F32 d;
  const I32 integers;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const VF times = hn::Set(d, factor);
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const VF sum = hn::ConvertTo(d, hn::LoadU(integers, sums + i)), by = hn::Mul(times, hn::LoadU(d, scales + i));
    const VF value = bias == nullptr ? hn::Mul(sum, by) : hn::MulAdd(sum, by, hn::LoadU(d, bias + i));
    hn::StoreU(value, d, values + i);
  }
  for (; i < count; ++i)
    values[i] = static_cast<float>(sums[i]) * (factor * scales[i]) + (bias == nullptr ? 0.0F : bias[i]);
}

}  // namespace fusescope::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fusescope::native {

HWY_EXPORT(rangeHere);
HWY_EXPORT(quantizeHere);
HWY_EXPORT(scaleSumsHere);

FloatRange rangeOf(const float* values, std::int64_t count) {
  return HWY_DYNAMIC_DISPATCH(rangeHere)(values, count);
}

ByteScale byteScaleOf(FloatRange range) {
  const float scale = range.most == range.least ? 1.0F : (range.most - range.least) / 255.0F;
  const float zero = std::nearbyint(std::clamp(0.0F - range.least / scale, 0.0F, 255.0F));
  return {scale, static_cast<std::uint8_t>(zero)};
}

void quantizeBytes(const float* values, std::int64_t count, ByteScale by, std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(quantizeHere)(values, count, by, codes);
}

void scaleSums(const std::int32_t* sums, std::int64_t count, float factor, const float* scales, const float* bias,
               float* values) {
  HWY_DYNAMIC_DISPATCH(scaleSumsHere)(sums, count, factor, scales, bias, values);
}

}  // namespace fusescope::native
#endif
