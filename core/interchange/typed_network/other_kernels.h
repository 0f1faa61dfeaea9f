#pragma once

#include <optional>

#include "interchange/typed_network/typed_network.h"

namespace fusescope {

/// Returns a note if nodes that run as one kernel in `plan` do not do so in `reading`, the plan of the exported
/// network, or vice versa: it names the first such kernel, what prevents it, and how many others there are. Returns
/// nothing if the kernels are the same except for Casts. Only the main graphs are compared.
std::optional<ExportNote> otherKernels(const Plan& plan, const Plan& reading);

}  // namespace fusescope
