#pragma once

#include <functional>

#include "base/json_fwd.h"
#include "planning/directive_map.h"
#include "planning/plan.h"

namespace fusescope {

/// Plans one body. The arguments are its model, its options, its holder, and the attribute of the holder that contains
/// it.
using BodyPlanner = std::function<Result<std::shared_ptr<const Plan>>(
    std::shared_ptr<const Model> model, const PlanOptions& options, NodeId holder, const std::string& attribute)>;

/// Fills Plan::bodies: each body of an accelerated node is planned by `planBody`. Directives of the plan that match
/// something in a body are passed to its plan, without the holder's name in the pattern, and their answers are
/// returned. Directives about bodies without a plan are answered here. `plan` must come from layOut(), so that its
/// model and structure are set.
Result<Explanations> planBodies(Plan& plan, const DirectiveMap& directives, const BodyPlanner& planBody);

/// Returns the JSON of a body's plan inside the JSON of the enclosing plan, or null if there is none.
const Json* recordedBody(const Json& plan, const std::string& holder, const std::string& attribute);

}  // namespace fusescope
