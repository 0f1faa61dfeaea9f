#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace fusescope {

/// A buffer that must hold its bytes from step `first` (written) to step `last` (read for the last time), both
/// included.
struct BufferLife {
  std::size_t bytes = 0;
  std::size_t first = 0;
  std::size_t last = 0;
};

/// Where each buffer lies in one arena. Buffers whose lives share a step never share a byte.
struct ArenaPlan {
  std::vector<std::size_t> offsets;  ///< as the buffers given; multiples of the alignment
  std::size_t bytes = 0;             ///< of the whole arena
};

/// Places the largest buffer first, each into the tightest gap between the buffers that live at the same time (greedy
/// by size, best fit: Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020).
/// Deterministic. Quadratic in the number of buffers.
ArenaPlan planArena(std::span<const BufferLife> buffers, std::size_t alignment = 64);

}  // namespace fusescope
