#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/stop.h"
#include "planning/cover.h"
#include "planning/prices/price_choices.h"
#include "planning/truncation_plan.h"
#include "planning/types/explanations.h"
#include "planning/types/type_conflict.h"

namespace fusescope {

class PriceModel;
struct Structure;

/// A plan: an overlay over the Graph of a model. Each node is in exactly one fused node. Only bodies of accelerated
/// nodes have plans; these have the same target and options, the inputs and outputs of the body's graph have the types
/// that its holder reads and writes, and directives for "HOLDER/…" are passed to them. It is immutable, and equal
/// inputs give equal plans to the byte.
struct Plan : Cover {
  TruncationPlan truncation;
  PriceChoices priced;                      ///< what prices decided
  std::vector<TypeConflict> typeConflicts;  ///< in the order in which they were found
  /// The answers to directives, including those passed to bodies; empty in a draft, which has no decisions.
  std::vector<DirectiveAnswer> answers;
  std::optional<PinsTogether> pinsTogether;
  Hash128 hash;  ///< hash of model, target, directives, options and the measured times that were used
  /// The part of the plan that does not depend on types; the next plan of the same model reuses it.
  std::shared_ptr<const Structure> structure;

  void index();  ///< fills fusedOfNode and storedTypes from the rest of the plan
  /// Returns whether `node` reads a float that its kernel finds in memory or a constant, directly or through moves. For
  /// such a node, the type in which it calculates determines how the operand is rounded. All other floats come from
  /// inside the kernel.
  bool readsMemory(NodeId node) const;
  /// Returns the plan of a body of `holder`, or null if the body runs without a plan, operator by operator.
  const Plan* bodyPlan(NodeId holder, std::string_view attribute) const;
};
/// Returns `cover` as a Plan, or null if it is a read-back plan.
const Plan* asPlan(const Cover& cover);
/// Returns the plan of a body of a Plan.
const Plan& plannedBody(const CoverBody& body);

/// Makes a plan: truncate, validate, partition, match, type. It is a pure function that reads no file, no clock and no
/// property of the machine. It is an error if the target is unknown, or if a pattern matches nothing; an `obey` pin
/// that is refused is not an error (see obeyRefusals()). `previous`, a plan of the same model, makes it faster and does
/// not change the result: parts of its structure that are still valid are reused.
Result<std::shared_ptr<const Plan>> makePlan(std::shared_ptr<const Model> model, const PlanOptions& options,
                                             const PriceModel* prices = nullptr, const StopToken& stop = {},
                                             const Plan* previous = nullptr);
/// Makes a plan again from its JSON and its model: it uses the recorded options, prices (only those of this version of
/// the format) and types that prices chose. The caller has to check whether the result is the recorded plan.
Result<std::shared_ptr<const Plan>> remakePlan(std::shared_ptr<const Model> model, const Json& recorded);
/// Returns the directive of a plan that is this cause, or null if the cause is something else.
const Directive* findDirective(const Plan& plan, const Cause& cause);
/// Returns the decisions that refuse an `obey` directive. If there are any, a command exits with status 1.
std::vector<const Decision*> obeyRefusals(const Plan& plan);

/// Checks that every node is in exactly one fused node, that fused nodes and segments are convex, that types agree or a
/// cast converts them, that each node of the file is covered or was removed by a decision, and that each directive is
/// answered. Tests call it.
Status verifyPlan(const Plan& plan);

/// Returns the JSON of `fusescope plan --json`: format "fusescope.plan" in version kPlanVersion. See
/// planning/FORMAT.md.
Json toJson(const Plan& plan);
/// Reads a plan over the model that it was made for. It is an error if the plan is of another model (contentHash
/// differs).
Result<std::shared_ptr<const Plan>> planFromJson(const Json& json, std::shared_ptr<const Model> model);

/// A change that would lead to another result for a node, and the result.
struct WhatIf {
  Directive directive;  ///< its kind may also be a truncation or a precision
  std::string change;   ///< "--truncate all"
  std::string effect;   ///< "node_mul would run in segment_0"
};
std::vector<WhatIf> wouldHelp(const Plan& plan, NodeId node);

}  // namespace fusescope
