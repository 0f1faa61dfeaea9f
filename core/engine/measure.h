#pragma once

#include <optional>
#include <span>

#include "backends/backend.h"
#include "engine/executor.h"

namespace fusescope {

/// Fills a tensor's bytes with plausible values: floats in [-1, 1], zeros for integers (an index is then in range).
void fillPlausible(const TensorDesc& desc, std::byte* bytes);

/// A time whose samples disagree by more than this is no price, and no price is fitted to it.
constexpr double kConfidentSpread = 0.5;

/// A kernel's time, and how far the samples agree about it.
struct KernelTime {
  double ms = 0;      ///< the least: on a busy machine single runs are off by a whole time slice of the scheduler
  double spread = 0;  ///< relative: how much more the fastest quarter of the runs (two at least) took
};

/// Time of one run of `kernel` on plausible data, of several runs after a first one that warms up. More runs are made
/// where they do not agree; fewer where they take more than twice `bestSoFar`. Null if the kernel fails on such data.
std::optional<KernelTime> measureKernel(const Kernel& kernel, std::span<const TensorDesc> inputs,
                                        std::span<const TensorDesc> outputs, std::optional<double> bestSoFar);

}  // namespace fusescope
