#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/engine.h"

namespace fusescope {

struct StepsResult {
  RunResult last;              ///< of the last step
  std::vector<double> stepMs;  ///< each with all that it took, also preparing for extents that it met first
};

/// Calls `engine` steps.count times, one after the other. What a step gives for an output that is fed is what the next
/// one gets for the input, whatever its extents, and no byte of it is copied; the other inputs stay. `mark`: of the
/// last step.
/// Errors, before anything runs: a name that is no input or output (the nearest is named), an output of another type
/// than the input, an input fed twice. While it runs: as Engine::run, with the number of the step.
Result<StepsResult> runSteps(Engine& engine, std::map<std::string, Tensor> inputs, const Steps& steps,
                             const std::vector<std::string>& mark = {}, const StopToken& stop = {});

/// The same as a measurement: from the start until the warm-up is over, then all steps once. Each is a sample.
Result<TimeReport> timeSteps(Engine& engine, const std::map<std::string, Tensor>& inputs, const TimeOptions& options);

}  // namespace fusescope
