#pragma once

#include <optional>
#include <vector>

#include "base/json_fwd.h"
#include "planning/plan.h"
#include "session/documents/compare_report.h"
#include "verify/compare_tensors.h"

namespace fusescope {

// Parts that several JSON documents share.
Json originsJson(const Cover& cover, const FusedNode& fused);  ///< names of nodes of the file
Json inputSpecsJson(const std::vector<InputSpec>& specs);      ///< [{name, type, min[], opt[], max[], source}]
/// Adds mean_ms, first_ms, last_ms and steps_ms of at least one step.
void addSteps(Json& json, const std::vector<double>& stepMs);
Json optionalNumber(const std::optional<double>& number);      ///< null when it was not measured
Json optionalCount(const std::optional<std::int64_t>& count);  ///< null if it is unknown
Json rangeJson(const std::optional<Range>& range);             ///< {least, most}; null when it was not measured
Json comparisonsJson(const std::vector<TensorComparison>& comparisons);

}  // namespace fusescope
