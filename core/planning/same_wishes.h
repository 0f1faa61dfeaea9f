#pragma once

#include "planning/plan.h"

namespace fusescope {

/// Without id and note: these are for people, and do not bear on a plan.
Directive withoutWords(Directive directive);
/// Whether both ask for the same plan, whatever the ids and notes of their directives are.
bool sameWishes(const PlanOptions& a, const PlanOptions& b);

}  // namespace fusescope
