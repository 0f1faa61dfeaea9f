#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace fusescope {

/// What the user wants the width of a bar to mean.
enum class RibbonWidth { Time, Bytes, Even };

/// What it actually means: if no time, or no bytes, are known for a lane, it means something else, and the ribbon says
/// so.
enum class WidthBasis { Time, Work, Bytes, Even };

/// The known costs of one kernel.
struct KernelCost {
  std::optional<double> ms;
  std::optional<std::int64_t> flops, bytes;
};

struct KernelWidths {
  std::vector<double> of;   ///< for each kernel, all above 0; in milliseconds, operations, bytes, or 1 each
  std::size_t unknown = 0;  ///< number of kernels for which this is unknown
  std::size_t atMinimumWidth =
      0;  ///< number of those that have the minimum width, because nothing known determines a width
};

/// Returns the basis on which all lanes can be drawn: time only if each lane has a kernel with a time, and if no more
/// than half of the kernels of a lane would have the minimum width.
WidthBasis basisOf(const std::vector<std::vector<KernelCost>>& lanes, RibbonWidth wanted);
/// Computes the widths. If a kernel has no time but others have, it is as wide as its work would take at their rate; if
/// its work is unknown too, it has the minimum width. This is only a width: no number is shown for it. Work means
/// operations, or for a kernel that calculates nothing the bytes that it moves. No bar is narrower than 1/100,000 of
/// the total. It is a pure function.
KernelWidths kernelWidths(const std::vector<KernelCost>& kernels, WidthBasis basis);

}  // namespace fusescope
