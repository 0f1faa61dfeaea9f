#pragma once

#include "base/json.h"
#include "planning/plan.h"

namespace fusescope {

/// Of the document "fusescope.plan". Version 1 held no word on how a predicted time is known; before version 3 work,
/// bytes and times had no ranges, and whether a file was edited could not be told; before version 4 what prices had
/// decided stood in decisions and codes alone.
constexpr int kPlanVersion = 4;

/// A part of a plan's JSON ("fused_nodes", "casts", …) without what was predicted of it: what the planner decided.
Json decidedPart(const Json& plan, const std::string& part);

/// The decided parts of which `now` does not say what `then`, the JSON of an earlier version, said. Keys that `then`
/// does not have are not compared.
std::vector<std::string> differingParts(const Json& then, const Json& now);

/// "body_time" of a node with bodies.
Json toJson(const BodyTime& time);

/// "precision": the types that may be used, f32 alone where there are none.
Json precisionJson(const std::vector<DataType>& precisions);
/// The options of a plan as they stand in its JSON: enough to make the plan again. planning/FORMAT.md.
Json toJson(const PlanOptions& options);
Result<PlanOptions> planOptionsFromJson(const Json& json);
Json toJson(const WeightOnly& weights);
/// Errors of these two are located at `place`.
Result<WeightOnly> weightOnlyFromJson(const Json& json, const std::string& place);
Result<std::int64_t> workspaceBytesFromJson(const Json& json, const std::string& place);

/// A plan as text for people and for golden files: segments, fused nodes with kind and members, casts.
std::string printPlan(const Cover& cover);

}  // namespace fusescope
