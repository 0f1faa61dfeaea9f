#pragma once

#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "planning/plan.h"
#include "session/session.h"

namespace fusescope {

/// "1x3x224x224" (also with commas) as extents; "scalar" or nothing is a rank of zero. Errors name `option`.
Result<Dims> parseDims(std::string_view text, std::string_view option);
/// "NAME=DIMS[:TYPE]", the form of `--input`.
Result<InputOverride> parseInputOption(std::string_view text);
enum class InputBound { Min, Opt, Max };
/// "NAME=DIMS", the form of `--min`, `--opt` and `--max`. Merges into the entry of that name.
Status parseInputBound(std::string_view text, InputBound bound, std::vector<InputOverride>& overrides);
/// Adds `override` to the list, or merges it into the entry of the same name.
void mergeOverride(std::vector<InputOverride>& overrides, InputOverride addition);

/// "f16,bf16" as the types of `--precision`.
Result<std::vector<DataType>> parsePrecisions(std::string_view text);

// Input overrides as JSON, as the worker is told them: [{name, fixed[]?, min[]?, opt[]?, max[]?, type?}].
// Plan options have theirs in planning/plan_json.h.
Json toJson(const std::vector<InputOverride>& overrides);
Result<std::vector<InputOverride>> inputOverridesFromJson(const Json& json);

}  // namespace fusescope
