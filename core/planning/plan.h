#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/stop.h"
#include "planning/cover.h"
#include "planning/price_choices.h"
#include "planning/wish_answers.h"

namespace fusescope {

struct Structure;

/// Two nodes that are no one kernel, since they calculate in different types and it has one type for both.
struct TypeConflict {
  NodeId producer, consumer;
  DataType producerType = DataType::Undefined, consumerType = DataType::Undefined;
};

struct TruncatedValue {
  ValueId value;
  DataType from, to;
  std::vector<NodeId> capturedBy{};  ///< nodes whose bodies read this constant from outside
};
struct RefusedTruncation {
  ValueId value;
  std::string code;
  std::string message;
};
struct TruncationPlan {
  std::vector<TruncatedValue> inputs, constants, produced;
  std::vector<RefusedTruncation> refused;
};

/// What will be done with a model: an overlay over its Graph. Each node is in exactly one fused node. Its bodies are
/// those of accelerated nodes: the same target and options over the body's graph, whose inputs and outputs are of the
/// types that its holder reads and leaves; directives of "HOLDER/…" are handed down to it. Immutable; equal inputs give
/// equal plans to the byte.
struct Plan : Cover {
  TruncationPlan truncation;
  PriceChoices priced;                      ///< what prices decided
  std::vector<TypeConflict> typeConflicts;  ///< in the order in which they were met
  std::vector<WishAnswer> answers;          ///< what became of directives, those handed to bodies included; of a draft
                                            ///< none, as it has no decisions
  std::optional<PinsTogether> pinsTogether;
  Hash128 hash;                                ///< of model, target, directives, options and the measured times used
  std::shared_ptr<const Structure> structure;  ///< what it is before types; handed to the next plan of the same model

  void index();  ///< fills fusedOfNode and storedTypes from the rest of the plan
  /// Whether `node` reads a float that its kernel finds in memory or a constant, itself or through moves: what such a
  /// node calculates in says what is rounded. All other floats it gets from inside the kernel.
  bool readsMemory(NodeId node) const;
  /// The plan of a body of `holder`; null where it is run as it is, operator by operator.
  const Plan* bodyPlan(NodeId holder, std::string_view attribute) const;
};
/// What is planned of a body of a Plan.
const Plan& plannedBody(const CoverBody& body);

/// The pipeline: truncate, validate, partition, match, type. Pure: no file, clock or machine is asked.
/// Errors: a pattern that matches nothing, an `obey` pin is NOT an error (see obeyRefused), an unknown target.
/// `previous`, a plan of the same model, makes it faster and changes nothing else: what its structure holds for is not
/// found again.
Result<std::shared_ptr<const Plan>> makePlan(std::shared_ptr<const Model> model, const PlanOptions& options,
                                             const PriceModel* prices = nullptr, const StopToken& stop = {},
                                             const Plan* previous = nullptr);
/// Makes a plan again from its JSON and the model it was made for: its options, with the prices (those of this
/// version of the format) and the types chosen by price that it recorded. Whether the outcome is what was recorded is
/// the caller's to check.
Result<std::shared_ptr<const Plan>> remakePlan(std::shared_ptr<const Model> model, const Json& recorded);
/// The directive of a plan that is the cause of something; null: something else is.
const Directive* findDirective(const Plan& plan, const Cause& cause);
/// The decisions that refuse an `obey` directive: a command that meets one exits with status 1.
std::vector<const Decision*> obeyRefusals(const Plan& plan);

/// Every node in exactly one fused node, fused nodes and segments convex, types agree or a cast stands there,
/// each origin node placed or removed by a decision, each directive answered. Used by tests and after makePlan in
/// debug.
Status verifyPlan(const Plan& plan);

/// The JSON of `fusescope plan --json`: format "fusescope.plan", version 3. See planning/FORMAT.md.
Json toJson(const Plan& plan);
/// Reads one back over the model it was made for; refuses one that was made for another (contentHash differs).
Result<std::shared_ptr<const Plan>> planFromJson(const Json& json, std::shared_ptr<const Model> model);

/// One thing that would change what happened to a node, and to what.
struct WhatIf {
  Directive directive;  ///< kind may also be a truncation or a precision
  std::string change;   ///< "--truncate all"
  std::string effect;   ///< "node_mul would run in segment_0"
};
std::vector<WhatIf> wouldHelp(const Plan& plan, NodeId node);

}  // namespace fusescope
