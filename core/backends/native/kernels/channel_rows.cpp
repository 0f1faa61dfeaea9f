#include "backends/native/kernels/channel_rows.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/native/kernels/channel_rows.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "backends/native/kernels/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fusescope::native::HWY_NAMESPACE {

/// Calculates the moments of `lanes` channels, which may be fewer than a vector has.
void momentsOfLanes(const float* rows, std::int64_t count, std::int64_t width, std::int64_t lanes, float* means,
                    float* squares) {
  const F32 d;
  const bool isWhole = lanes == static_cast<std::int64_t>(hn::Lanes(d));
  const auto load = [&](std::int64_t r) {
    return isWhole ? hn::LoadU(d, rows + r * width) : loadFirst(d, rows + r * width, lanes);
  };
  // There are several sums because a single one would wait for each addition.
  VF sum0 = hn::Zero(d), sum1 = sum0, sum2 = sum0, sum3 = sum0;
  std::int64_t r = 0;
  for (; r + 4 <= count; r += 4) {
    sum0 = hn::Add(sum0, load(r));
    sum1 = hn::Add(sum1, load(r + 1));
    sum2 = hn::Add(sum2, load(r + 2));
    sum3 = hn::Add(sum3, load(r + 3));
  }
  for (; r < count; ++r) sum0 = hn::Add(sum0, load(r));
  const VF sum = hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3));
  const VF mean = hn::Div(sum, hn::Set(d, static_cast<float>(count)));
  VF left0 = hn::Zero(d), left1 = left0;
  for (r = 0; r + 2 <= count; r += 2) {
    const VF x0 = hn::Sub(load(r), mean), x1 = hn::Sub(load(r + 1), mean);
    left0 = hn::MulAdd(x0, x0, left0);
    left1 = hn::MulAdd(x1, x1, left1);
  }
  if (r < count) {
    const VF x = hn::Sub(load(r), mean);
    left0 = hn::MulAdd(x, x, left0);
  }
  const VF left = hn::Add(left0, left1);
  storeFirst(mean, d, means, lanes);
  storeFirst(left, d, squares, lanes);
}

void channelMomentsHere(const float* rows, std::int64_t count, std::int64_t width, float* means, float* squares) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(F32()));
  for (std::int64_t i = 0; i < width; i += lanes)
    momentsOfLanes(rows + i, count, width, std::min(lanes, width - i), means + i, squares + i);
}

void normChannelsHere(const float* rows, std::int64_t count, std::int64_t width, const float* means,
                      const float* factors, const float* offsets, float* to) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t r = 0; r < count; ++r, rows += width, to += width) {
    std::int64_t i = 0;
    for (; i + lanes <= width; i += lanes) {
      const VF x = hn::Sub(hn::LoadU(d, rows + i), hn::LoadU(d, means + i));
      hn::StoreU(hn::MulAdd(x, hn::LoadU(d, factors + i), hn::LoadU(d, offsets + i)), d, to + i);
    }
    for (; i < width; ++i) to[i] = (rows[i] - means[i]) * factors[i] + offsets[i];
  }
}

}  // namespace fusescope::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fusescope::native {

HWY_EXPORT(channelMomentsHere);
HWY_EXPORT(normChannelsHere);

void channelMoments(const float* rows, std::int64_t count, std::int64_t width, float* means, float* squares) {
  HWY_DYNAMIC_DISPATCH(channelMomentsHere)(rows, count, width, means, squares);
}
void normChannels(const float* rows, std::int64_t count, std::int64_t width, const float* means, const float* factors,
                  const float* offsets, float* to) {
  HWY_DYNAMIC_DISPATCH(normChannelsHere)(rows, count, width, means, factors, offsets, to);
}

}  // namespace fusescope::native
#endif
