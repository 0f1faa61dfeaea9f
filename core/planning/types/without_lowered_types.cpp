#include "planning/types/without_lowered_types.h"

#include <algorithm>

#include "planning/directives/directive_form.h"

namespace fusescope {

PlanOptions withoutLoweredTypes(const PlanOptions& options) {
  PlanOptions exact = options;
  exact.precisions.clear();
  exact.ranges.reset();
  exact.weightOnly = {};
  std::erase_if(exact.directives, [](const Directive& directive) {
    return asksForAType(directive) || formOf(directive).reach == DirectiveReach::Tactics;
  });
  return exact;
}

PlanOptions forOwnCompiler(PlanOptions options) {
  options.compiler = kOwnCompiler;
  options.compilerOptions.clear();
  options.support.reset();
  return options;
}

bool roundsBelowF32(const Plan& plan) {
  if (std::ranges::any_of(plan.calculates, isNarrow) || std::ranges::any_of(plan.storedTypes, isNarrow)) return true;
  return std::ranges::any_of(plan.bodies, [](const CoverBody& body) { return roundsBelowF32(plannedBody(body)); });
}

}  // namespace fusescope
