#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace fusescope {

/// A buffer that is needed from step `first`, which writes it, to step `last`, which is the last to read it, both
/// inclusive.
struct BufferLife {
  std::size_t bytes = 0;
  std::size_t first = 0;
  std::size_t last = 0;
};

/// The places of buffers in one arena. Buffers that are needed in a common step do not overlap.
struct ArenaPlan {
  std::vector<std::size_t> offsets;  ///< by buffer; multiples of the alignment
  std::size_t bytes = 0;             ///< size of the whole arena
};

/// Places the buffers by decreasing size, each in the tightest gap between the buffers that are needed at the same time
/// (greedy by size, best fit: Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020).
/// Deterministic. The time is quadratic in the number of buffers.
ArenaPlan planArena(std::span<const BufferLife> buffers, std::size_t alignment = 64);

}  // namespace fusescope
