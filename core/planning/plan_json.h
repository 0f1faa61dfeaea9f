#pragma once

#include "base/json.h"
#include "planning/plan.h"

namespace fusescope {

/// The version of the document "fusescope.plan". Version 1 did not say how a predicted time is known. Before version 3,
/// work, bytes and times had no ranges, and an edited file could not be detected. Before version 4, what prices had
/// decided was only in decisions and their codes.
constexpr int kPlanVersion = 4;

/// Returns a part of a plan's JSON ("fused_nodes", "casts", …) without predictions: only what the planner decided.
Json decidedPart(const Json& plan, const std::string& part);

/// Returns the decided parts in which `now` differs from `then`, the JSON of an earlier version. Keys that `then` does
/// not have are not compared.
std::vector<std::string> differingParts(const Json& then, const Json& now);

/// Returns "body_time" of a node with bodies.
Json toJson(const BodyTime& time);

/// Returns "precision": the types that may be used, or only f32 if the list is empty.
Json precisionJson(const std::vector<DataType>& precisions);
/// Converts the options of a plan to and from its JSON. They are sufficient to make the plan again; planning/FORMAT.md
/// describes them.
Json toJson(const PlanOptions& options);
Result<PlanOptions> planOptionsFromJson(const Json& json);
Json toJson(const WeightOnly& weights);
/// Errors of the next two functions are located at `place`.
Result<WeightOnly> weightOnlyFromJson(const Json& json, const std::string& place);
Result<std::int64_t> workspaceBytesFromJson(const Json& json, const std::string& place);

/// Prints a plan as text for people and for golden files: segments, fused nodes with kinds and nodes, and casts.
std::string printPlan(const Cover& cover);

}  // namespace fusescope
