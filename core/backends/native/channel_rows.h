#pragma once

#include <cstdint>

namespace fusescope::native {

// Rows of `width` channels that lie next to each other: a stretch of positions of a tensor whose channels lie
// innermost.

/// Of each channel over `count` rows, at least one: its mean, and the sum of what is left of it squared.
void channelMoments(const float* rows, std::int64_t count, std::int64_t width, float* means, float* squares);

/// to = (x - mean) · factor + offset, each by channel.
void normChannels(const float* rows, std::int64_t count, std::int64_t width, const float* means, const float* factors,
                  const float* offsets, float* to);

}  // namespace fusescope::native
