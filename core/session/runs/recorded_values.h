#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "interchange/network_cutter.h"
#include "session/inputs/samples.h"
#include "verify/compare_tensors.h"

namespace fusescope {

/// Values inside a network as the network itself calculates them, in its own types, with nothing lowered or quantised.
struct RecordedValues {
  ValueTypes types;                                    ///< as far as they are known without running
  std::vector<InputSpec> extents;                      ///< for tensors: the extents that the inputs of the network
                                                       ///< allow
  std::vector<std::map<std::string, Tensor>> samples;  ///< for each sample; empty: nothing was run
  std::vector<std::string> unknown;                    ///< values that are sequences or optionals instead of tensors
};

/// Returns the extents of the recorded values that are inputs of `part`.
std::vector<InputSpec> inputExtents(const RecordedValues& recorded, const NetworkPart& part);

struct RecordingOptions {
  std::string backend;  ///< empty: the reference backend
  int threads = 0;
  StopToken stop{};
  Progress progress{};
};

/// Runs the part of the network that calculates `values`, names of the file, on `samples`, and records them. That part
/// is written as a network into `folder`. If `samples` is null, it is not run. `plan` is the plan of the network in
/// `cutter`. Errors: those of importing, building and running; cancellation.
Result<RecordedValues> recordValues(const NetworkCutter& cutter, const Plan& plan,
                                    const std::vector<std::string>& values, const Samples* samples,
                                    const std::filesystem::path& folder, const RecordingOptions& options);

/// Runs `model` on each of `samples`; inputs that it does not have are ignored.
Result<std::vector<std::map<std::string, Tensor>>> runOnSamples(std::shared_ptr<const Model> model,
                                                                const Samples& samples,
                                                                const RecordingOptions& options);

/// Returns an error, which begins with `what`, for the first of `outputs` that is outside the tolerance; nothing if
/// none is.
std::optional<Diagnostic> firstApart(const std::vector<TensorComparison>& outputs, std::string_view what,
                                     std::string_view help);
/// Returns the largest max|Δ| over rms of all of them.
double worstOverRms(const std::vector<TensorComparison>& outputs);

}  // namespace fusescope
