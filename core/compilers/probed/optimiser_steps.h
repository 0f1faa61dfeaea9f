#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compilers/probed/probed_kind.h"

namespace fusescope {

/// Returns the options of `compiler` for omitting steps of its optimisation; nothing if it has none, or if its answers
/// are recorded.
std::optional<OptimiserSwitches> optimiserSwitchesOf(const Compiler& compiler);

/// Returns the steps of `compiler`'s optimisation for the segments of `plan` that it receives, in the order in which
/// they first run, with the names that the installed version uses. Errors: it cannot be asked, the network does not
/// compile; cancelled.
Result<std::vector<OptimiserStep>> optimiserSteps(const Compiler& compiler, const std::shared_ptr<const Plan>& plan,
                                                  const std::map<std::string, Dims>& extents,
                                                  const BuildOptions& options);

}  // namespace fusescope
