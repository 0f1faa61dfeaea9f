#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "base/stop.h"
#include "planning/plan.h"

namespace fusescope {

/// Returns the path of the network's file from which `plan` was made, with the weights of the plan. The plan of an
/// engine file only names that file; it is searched for in the same way as for a saved plan, and is read. Errors: it
/// does not exist, has changed since it was read, or is another network.
Result<std::filesystem::path> sourceNetwork(const Plan& plan, const StopToken& stop);

/// Returns the network for commands of other tools: the plan's own file, or, for an exported program (.pt2), the
/// network that torch made from it, which must exist.
Result<std::string> networkForTools(const Plan& plan, const StopToken& stop);

}  // namespace fusescope
