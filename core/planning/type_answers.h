#pragma once

#include <vector>

#include "planning/type_solver.h"

namespace fusescope {

/// What the plan answers about types: one grant per node, and the decisions of kind precision.
struct TypeAnswers {
  std::vector<PrecisionGrant> grants;  ///< graph order
  std::vector<Decision> decisions;
};
/// `plan` has its fused nodes, indexed. Every Pin and PinOutput directive is answered for each node it names: it holds,
/// for free or at a price, it is refused, or there is nothing to pin.
TypeAnswers answerTypes(const Plan& plan, const Target& target, const Structure& structure,
                        const DirectiveMap& directives, TypeSolver& solver);

/// Warns of floats that become an index or an extent and are calculated or read in a type that holds fewer integers.
std::vector<Decision> indexWarnings(const Plan& plan);

}  // namespace fusescope
