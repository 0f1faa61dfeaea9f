#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace fusescope {

/// What the user wants the width of a bar to tell.
enum class RibbonWidth { Time, Bytes, Even };

/// What it does tell: where no time is known of a lane, or no bytes, it is something else, and the ribbon says so.
enum class WidthBasis { Time, Work, Bytes, Even };

/// What is known of one kernel.
struct KernelCost {
  std::optional<double> ms;
  std::optional<std::int64_t> flops, bytes;
};

struct KernelWidths {
  std::vector<double> of;   ///< by kernel, all above 0; milliseconds, operations, bytes or 1 each
  std::size_t unknown = 0;  ///< kernels of which what the widths tell is not known
  std::size_t unseen = 0;   ///< of those: kernels that are as narrow as can be, since nothing known makes a width
};

/// The basis on which all lanes can be drawn: time only where a kernel of each has one.
WidthBasis basisOf(const std::vector<std::vector<KernelCost>>& lanes, RibbonWidth wanted);
/// Where a kernel has no time, but others have, it is as wide as its work would take at the rate of these, and where it
/// has no work, as wide as the narrowest. That is a width only: no number is shown for it. Work is the operations, of
/// what calculates nothing the bytes that are moved. No bar is narrower than a 100,000th of all. Pure.
KernelWidths kernelWidths(const std::vector<KernelCost>& kernels, WidthBasis basis);

}  // namespace fusescope
