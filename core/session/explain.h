#pragma once

#include <string_view>

#include "base/json_fwd.h"
#include "planning/plan.h"

namespace fusescope {

struct Artifact;

/// Returns the JSON of `explain`: everything about one node, and what another compiler made of it if that is known.
Result<Json> explainJson(const Artifact& artifact, std::string_view nodeName);

Result<Json> explainJson(const Plan& plan, std::string_view nodeName);

}  // namespace fusescope
