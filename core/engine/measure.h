#pragma once

#include <optional>
#include <span>

#include "backends/backend.h"
#include "engine/executor.h"

namespace fusescope {

/// Fills a tensor's bytes with plausible values: floats in [-1, 1], zeros for integers (an index is then in range).
void fillPlausible(const TensorDesc& desc, std::byte* bytes);

/// Time of one run of `kernel` on plausible data: the least of several runs after a first one that warms up. Fewer
/// runs are made where they take more than twice `bestSoFar`. Null if the kernel fails on such data.
std::optional<double> measureKernel(Kernel& kernel, std::span<const TensorDesc> inputs,
                                    std::span<const TensorDesc> outputs, std::optional<double> bestSoFar);

}  // namespace fusescope
