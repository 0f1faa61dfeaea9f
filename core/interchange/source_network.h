#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "base/stop.h"
#include "planning/plan.h"

namespace fusescope {

/// The file of the network that `plan` was made of, its weights as the plan has them. A plan that an engine file holds
/// only names it: it is looked for as one that a saved plan names, and read. Errors: it is not there, has changed
/// since it was read, or is another network.
Result<std::filesystem::path> sourceNetwork(const Plan& plan, const StopToken& stop);

/// The network as commands for other tools name it: the plan's own file, or of an exported program (.pt2) the network
/// that torch made of it, which must be there then.
Result<std::string> networkForTools(const Plan& plan, const StopToken& stop);

}  // namespace fusescope
