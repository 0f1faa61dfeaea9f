#pragma once

#include "planning/plan.h"

namespace fusescope {

/// Returns the directive without id and note, which are for people and have no effect on a plan.
Directive withoutWords(Directive directive);
/// Returns whether both options ask for the same plan. The ids and notes of directives are ignored.
bool askForSamePlan(const PlanOptions& a, const PlanOptions& b);

}  // namespace fusescope
