#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "interchange/network_cutter.h"
#include "session/samples.h"
#include "verify/compare_tensors.h"

namespace fusescope {

/// Values inside a network, as the network itself makes them: its types, nothing lowered or quantised.
struct RecordedValues {
  ValueTypes types;                                    ///< as far as they are known without running
  std::vector<InputSpec> extents;                      ///< of tensors: what the inputs of the network let them have
  std::vector<std::map<std::string, Tensor>> samples;  ///< by sample; empty: nothing was run
  std::vector<std::string> unknown;                    ///< values that are no tensors: sequences and optionals
};

/// The extents of those recorded values that are inputs of `part`.
std::vector<InputSpec> inputExtents(const RecordedValues& recorded, const NetworkPart& part);

struct RecordingOptions {
  std::string backend;  ///< empty: the reference
  int threads = 0;
  StopToken stop{};
  Progress progress{};
};

/// Runs what makes `values`, names of the file, on `samples`, and keeps them. What is made is a network of its own,
/// which is written into `folder`. With no samples it is not run. `plan`: the plan of the network that `cutter` has.
/// Errors: those of importing, building and running; cancellation.
Result<RecordedValues> recordValues(const NetworkCutter& cutter, const Plan& plan,
                                    const std::vector<std::string>& values, const Samples* samples,
                                    const std::filesystem::path& folder, const RecordingOptions& options);

/// Runs the network in the file at `path` on each of `samples` (inputs that it has not are left out).
Result<std::vector<std::map<std::string, Tensor>>> runOnSamples(std::shared_ptr<const Model> model,
                                                                const Samples& samples,
                                                                const RecordingOptions& options);

/// The first of `outputs` that is further off than it may be, as an error that begins with `what`; nothing: none is.
std::optional<Diagnostic> firstApart(const std::vector<TensorComparison>& outputs, std::string_view what,
                                     std::string_view help);
/// The largest max|Δ| over rms of all of them.
double worstOverRms(const std::vector<TensorComparison>& outputs);

}  // namespace fusescope
