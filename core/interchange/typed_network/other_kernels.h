#pragma once

#include <optional>

#include "interchange/typed_network/typed_network.h"

namespace fusescope {

/// What to say where nodes that run as one kernel in `plan` do not in `reading`, the plan of the exported network, or
/// the other way round: the first such kernel, what stands in the way, and how many others there are. Nothing where the
/// kernels are the same, but for Casts. Of the main graphs.
std::optional<ExportNote> otherKernels(const Plan& plan, const Plan& reading);

}  // namespace fusescope
