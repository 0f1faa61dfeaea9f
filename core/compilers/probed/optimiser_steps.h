#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compilers/probed/probed_kind.h"

namespace fusescope {

/// How `compiler` is told which steps of its optimisation to leave out; nothing: it cannot be told, or answers are
/// recorded.
std::optional<OptimiserSwitches> optimiserSwitchesOf(const Compiler& compiler);

/// The steps that `compiler` takes for the segments of `plan` that it is handed, in the order in which they are first
/// taken. Its own words, asked of the version that is there. Errors: it cannot be asked, does not compile; cancelled.
Result<std::vector<OptimiserStep>> optimiserSteps(const Compiler& compiler, const std::shared_ptr<const Plan>& plan,
                                                  const std::map<std::string, Dims>& extents,
                                                  const BuildOptions& options);

}  // namespace fusescope
