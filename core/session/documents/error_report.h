#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/stop.h"
#include "planning/plan.h"
#include "verify/compare_tensors.h"
#include "verify/value_sources.h"

namespace fusescope {

struct Artifact;
struct Samples;

/// The errors of the network's outputs on one sample.
struct SampleErrors {
  std::string name;  ///< of the sample
  std::vector<TensorComparison> outputs;
  bool operator==(const SampleErrors&) const = default;
};

Json toJson(const SampleErrors& errors);  ///< {name, outputs[…]}

/// The errors that a plan's types cause in values, against the same network in float32. The hardware does not matter:
/// the reference backend rounds where the plan says, so that the errors are the same on every machine.
struct ErrorReport {
  std::vector<TensorComparison> outputs;
  std::vector<TensorComparison> values;  ///< inner values that both store in memory, in the order of the graph
  std::vector<SampleErrors> samples;     ///< the outputs for each sample
  ValueSources madeOf{};                 ///< for outputs and `values`, which of `values` they are calculated from
};

/// Runs `plan` on the reference backend, and the plan of the same model and target without lowered types; reports the
/// worst errors of several samples.
Result<ErrorReport> measureErrors(std::shared_ptr<const Plan> plan, const Samples& samples, const Tolerance& tolerance,
                                  const StopToken& stop = {}, const Progress& progress = {});

/// Does the same for an artifact; what another compiler compiled is run, and compared with our own engine in float32.
Result<ErrorReport> measureErrors(const Artifact& artifact, const Samples& samples, const Tolerance& tolerance,
                                  const StopToken& stop = {}, const Progress& progress = {});

Json toJson(const ErrorReport& report);

}  // namespace fusescope
