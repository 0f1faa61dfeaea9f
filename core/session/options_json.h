#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "planning/plan.h"
#include "session/open_model.h"

namespace fusescope {

/// Parses "1x3x224x224" (also with commas) as extents; "scalar" or an empty text is rank zero. Errors name `option`.
Result<Dims> parseDims(std::string_view text, std::string_view option);
/// Parses "NAME=DIMS[:TYPE]", the form of `--input`.
Result<InputOverride> parseInputOption(std::string_view text);
enum class InputBound { Min, Opt, Max };
/// Parses "NAME=DIMS", the form of `--min`, `--opt` and `--max`, and merges it into the entry of that name.
Status parseInputBound(std::string_view text, InputBound bound, std::vector<InputOverride>& overrides);
/// Adds `addition` to the list, or merges it into the entry of the same name.
void mergeOverride(std::vector<InputOverride>& overrides, InputOverride addition);

/// Returns the target of a plan with these options if none is asked for: that of their compiler, or else the one that
/// they have.
std::string usualTarget(const PlanOptions& options);

/// Parses "f16,bf16" as the types of `--precision`.
Result<std::vector<DataType>> parsePrecisions(std::string_view text);

// These write and read input overrides as JSON for the worker: [{name, fixed[]?, min[]?, opt[]?, max[]?, type?}]. For
// plan options see planning/plan_json.h.
Json toJson(const std::vector<InputOverride>& overrides);
Result<std::vector<InputOverride>> inputOverridesFromJson(const Json& json);

}  // namespace fusescope
