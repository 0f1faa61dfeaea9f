#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/engine.h"

namespace fusescope {

struct StepsResult {
  RunResult last;              ///< the result of the last step
  std::vector<double> stepMs;  ///< the whole time of each step, including preparation for extents that occurred for the
                               ///< first time
};

/// Calls `engine` steps.count times in sequence. The output of a feed becomes its input in the next step, whatever its
/// extents, without a copy; the other inputs stay the same. `mark` applies to the last step.
/// Errors that are reported before anything runs: a name that is not an input or output (the nearest name is
/// suggested), an output whose type differs from the input's, an input that is fed twice. Errors while it runs: those
/// of Engine::run, with the number of the step.
Result<StepsResult> runSteps(Engine& engine, std::map<std::string, Tensor> inputs, const Steps& steps,
                             const std::vector<std::string>& mark = {}, const StopToken& stop = {});

/// Times such a sequence: the sequence restarts until the warm-up is over, then all steps run once. Each step is one
/// sample.
Result<TimeReport> timeSteps(Engine& engine, const std::map<std::string, Tensor>& inputs, const TimeOptions& options);

}  // namespace fusescope
