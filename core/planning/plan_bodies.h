#pragma once

#include <functional>

#include "planning/directive_map.h"
#include "planning/plan.h"

namespace fusescope {

/// Plans one body: its model and options, and the body of `holder` under `attribute` that it is.
using BodyPlanner = std::function<Result<std::shared_ptr<const Plan>>(
    std::shared_ptr<const Model> model, const PlanOptions& options, NodeId holder, const std::string& attribute)>;

/// Fills Plan::bodies: the bodies of accelerated nodes, each planned by `planBody`. Of the plan's directives those that
/// name something in a body go to its plan, without the holder's name; their answers come back with it. Directives
/// about bodies that have no plan are answered here. `plan` must be laid out; model and structure are those of it.
Result<Explanations> planBodies(Plan& plan, const DirectiveMap& directives, const BodyPlanner& planBody);

/// The JSON of the plan of a body inside that of the plan around it; null where it has none.
const Json* recordedBody(const Json& plan, const std::string& holder, const std::string& attribute);

}  // namespace fusescope
