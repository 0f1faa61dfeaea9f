#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "planning/cover.h"

namespace fusescope {

/// Returns "precision": the types that may be used, or only f32 if the list is empty.
Json precisionJson(const std::vector<DataType>& precisions);
/// Converts the options of a plan to and from its JSON. They are sufficient to make the plan again; planning/FORMAT.md
/// describes them.
Json toJson(const PlanOptions& options);
Result<PlanOptions> planOptionsFromJson(const Json& json);
/// Reads the same object as the value of any field: the errors say where in it something is wrong, and the reader of
/// the field adds its name.
Result<PlanOptions> planOptionsOfField(const Json& json);
Json toJson(const WeightOnly& weights);
/// Errors of the next two functions are located at `place`.
Result<WeightOnly> weightOnlyFromJson(const Json& json, const std::string& place);
Result<std::int64_t> workspaceBytesFromJson(const Json& json, const std::string& place);

}  // namespace fusescope
