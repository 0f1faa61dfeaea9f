#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planning/read_back/read_back_plan.h"

namespace fusescope {

struct DirectiveMap;

/// Returns which directives apply to which nodes and values of `plan`, for which they were resolved before, so that
/// this cannot fail. Empty if there are none, or if the plan was not made of directives.
std::optional<DirectiveMap> resolvedAgain(const Plan& plan);

/// A type in memory that a directive asks for a value of what a compiler made.
struct OutputTypeMade {
  ValueId value;
  std::size_t directive = 0;  ///< the index in PlanOptions::directives
  DataType asked = DataType::Undefined;
  DataType stored = DataType::Undefined;  ///< Undefined: the compiler does not report it, or the value is not in memory
};

/// Returns these values in the order of the graph. `directives` are those of the requested plan.
std::vector<OutputTypeMade> outputTypesMade(const ReadBackPlan& made, const DirectiveMap& directives);

/// A pin on a node in a body that the compiler compiled, and not our own engine: no compiler reports the types there.
struct BodyPinMade {
  NetworkPlace place;
  std::size_t directive = 0;  ///< the index in PlanOptions::directives
};
/// Returns these pins in the order of the directives, which are those of the requested plan.
std::vector<BodyPinMade> bodyPinsMade(const ReadBackPlan& made, const DirectiveMap& directives);

/// A pin or output type with `obey` that the compiler does not obey, or of which it does not say whether it obeys.
struct UnobeyedPin {
  Subject about;  ///< the node or value
  Cause by;       ///< the directive
  PinResult result = PinResult::Ignored;
  std::string words;  ///< what the compiler did, and why: it follows "node 'relu' "
};

/// Returns these pins of what a compiler made: those of nodes in the order of the graph, then those of values, then
/// those of nodes in bodies, of whose types no compiler reports anything. A pin on a node that no kernel calculates is
/// not one of them, because nothing has another type than was asked for. Pins that the plan refuses are those of
/// obeyRefusals(). There are none for a Plan.
std::vector<UnobeyedPin> unobeyedPins(const Cover& made);

/// Returns the types that were asked of nodes, and what the compiler did with them: a list whose entries have the keys
/// of a pin that planning/FORMAT.md describes. It is empty for a Plan.
Json pinsMadeJson(const Cover& made);

}  // namespace fusescope
