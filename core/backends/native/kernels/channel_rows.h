#pragma once

#include <cstdint>

namespace fusescope::native {

// These work on rows of `width` adjacent channels: consecutive positions of a tensor whose channels are the innermost
// axis.

/// Computes for each channel, over `count` rows (at least one), the mean and the sum of squared deviations from it.
void channelMoments(const float* rows, std::int64_t count, std::int64_t width, float* means, float* squares);

/// Calculates to = (x - mean) · factor + offset with one mean, factor and offset per channel.
void normChannels(const float* rows, std::int64_t count, std::int64_t width, const float* means, const float* factors,
                  const float* offsets, float* to);

}  // namespace fusescope::native
