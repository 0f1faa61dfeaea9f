#pragma once

#include "session/artifact.h"
#include "session/documents/bisect_report.h"
#include "session/documents/engine_reports.h"
#include "session/inputs/samples.h"

namespace fusescope {

struct BisectOptions {
  double tolerance = 1e-2;  ///< the allowed max|Δ| over rms of the worst output, against float32
  std::int64_t builds = 0;  ///< the largest number of builds; 0: no limit
  double seconds = 0;       ///< the largest number of seconds; 0: no limit
  int threads = 0;
  StopToken stop{};  ///< ends the search with the result so far; before the search begins, ends it with a cancellation
  Progress progress{};
};

/// Finds what makes the outputs of an artifact wrong: the smallest set of optimisers of its compiler, of our fusion
/// rules, or of nodes with lowered types without which the outputs are right. Each set that is tried is compiled and
/// run on all samples. Optimisers are tried first, then fusion rules, the type of the whole network, and the types of
/// nodes; the search ends with the first kind that makes the outputs right, since types are no cause of what less
/// optimisation cures. Deterministic. Errors: the network cannot be compiled as it is, or run; cancelled.
Result<BisectReport> bisectErrors(const Artifact& artifact, const Samples& samples, const BisectOptions& options);

/// Returns {format "fusescope.bisect", version, samples, random_inputs, compiler, tolerance} and the contents of the
/// report.
Json toJson(const BisectReport& report, const Artifact& artifact, const Samples& samples, const BisectOptions& options);

}  // namespace fusescope
