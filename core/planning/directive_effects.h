#pragma once

#include <string>
#include <vector>

#include "planning/directive_map.h"
#include "planning/plan.h"

namespace fusescope {

// What splits and forbidden fusions mean to a compiler that is not ours. Our own compiler runs a plan as it is. Another
// compiler fuses by rules of its own: it can be asked not to fuse across a value only by the ends of what it receives,
// and to leave out a way of fusing only if it can switch that off (TargetTable::noFuse).

/// Returns the compiler's names of the steps that the directive, a NoFuse, asks it to leave out; empty if it asks for
/// nothing that the compiler can do.
std::vector<std::string> optimisersToLeaveOut(const Plan& plan, const Directive& directive);

/// Returns why a Split or NoFuse has no effect on the compiler of the plan, as a clause; empty if it has one, or if the
/// compiler is our own.
std::string whyNoEffect(const Plan& plan, const Directive& directive);

/// A directive without effect, and the clause of whyNoEffect().
struct DirectiveWithoutEffect {
  const Directive* directive = nullptr;  ///< points into the options of the plan
  std::string why;
};
/// Returns the directives of the plan that have no effect on its compiler, in the order of its options.
std::vector<DirectiveWithoutEffect> directivesWithoutEffect(const Plan& plan);

/// Removes splits and forbidden fusions without effect from `directives`, so that the prediction of what the compiler
/// makes does not follow them. `plan` has its model, options and target.
void dropWithoutEffect(const Plan& plan, DirectiveMap& directives);

}  // namespace fusescope
