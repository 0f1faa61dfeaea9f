#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "session/artifact.h"
#include "session/documents/engine_reports.h"
#include "session/inputs/samples.h"

namespace fusescope {

// What the command line and the worker both do with an opened artifact.

/// Returns the extents of inputs, by which an engine is specialised.
std::map<std::string, Dims> extentsOf(const std::map<std::string, Tensor>& inputs);

/// Returns `error` with a note that the extents were assumed and how to give others, if an assumed extent of `plan` may
/// have caused it.
Diagnostic underAssumedExtents(Diagnostic error, const Plan& plan);
/// Does the same for a result, if no inputs were given: what runs then has the assumed extents.
template <class T>
Result<T> underAssumedExtents(Result<T> result, const Plan& plan, bool inputsGiven) {
  if (result.ok() || inputsGiven) return result;
  return underAssumedExtents(std::move(result).error(), plan);
}

/// Options of a build that come from outside; the rest is as BuildOptions says.
BuildOptions buildOptions(const Artifact& artifact, int threads, const StopToken& stop = {},
                          const Progress& progress = {});

/// Returns {peak_resident_bytes, resident_bytes, mapped_bytes, weight_bytes, arena_bytes, live_bytes}: of this process,
/// and what the engine of `report` needs; null if the system does not report it.
Json memoryJson(const BuildReport& report);

struct RunRequest {
  std::string outputsFile;  ///< .npz to write; empty: none
  std::string expectFile;   ///< .npz to compare with; empty: none
  Tolerance tolerance = Tolerance::standard();
  std::vector<std::string> mark;
  std::optional<Steps> steps;  ///< the network called again and again, with what it gave; nothing: once
};
struct RunReport {
  RunResult result;            ///< of the last step
  std::vector<double> stepMs;  ///< of RunRequest::steps
  ShapeCacheCount shapeCache, dynamicKernels;
  bool compared = false;
  bool ok = true;  ///< every expected output is as expected
  std::vector<TensorComparison> comparisons;
};
/// Runs the network once, or as often as the steps demand, writes the outputs and compares them as `request` says.
Result<RunReport> runOnce(Engine& engine, const std::map<std::string, Tensor>& inputs, const RunRequest& request,
                          const StopToken& stop = {});
/// Returns {ok, outputs[…]} if there is an expectation; without an expectation, the outputs: {outputs[{name, type,
/// dims[], min, max, mean}]}. Marked values are listed likewise.
Json toJson(const RunReport& report);

/// Extremes and mean of a numeric tensor; NaN counts apart.
struct TensorSummary {
  double min = 0, max = 0, mean = 0;
  std::int64_t notNumbers = 0;
};
TensorSummary summaryOf(const Tensor& tensor);

}  // namespace fusescope
