#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/stop.h"
#include "calibration/weight_only.h"
#include "ir/model.h"
#include "planning/bindings.h"
#include "planning/directive.h"
#include "planning/price.h"
#include "planning/price_choices.h"
#include "planning/type_reason.h"
#include "planning/wish_answers.h"
#include "target/target.h"

namespace fusescope {

struct Ranges;
struct Structure;

enum class SegmentKind { Accelerated, Fallback };
std::string_view name(SegmentKind kind);  ///< "accelerated", "fallback"

/// A maximal convex set of nodes that one backend runs.
struct Segment {
  SegmentId id;
  SegmentKind kind = SegmentKind::Accelerated;
  std::string name;           ///< "segment_0"
  std::string backend;        ///< "native", "reference", "tensorrt"
  std::vector<NodeId> nodes;  ///< graph order
};

/// A value between two nodes of one fused node. `real`: it exists in memory, rounded to `type`; else it is inner: it
/// lives in registers, in the kernel's accumulate type or in a narrower one that its contract narrows it to.
struct InnerEdge {
  ValueId value;
  bool real = false;
  DataType type = DataType::Undefined;
};

/// A value that a fused node leaves in memory, at `type` before any cast.
struct FusedOutput {
  ValueId value;
  DataType type = DataType::Undefined;
};

/// What running something once comes to where the inputs have other extents than usual; null where it is not known.
struct CostAt {
  std::optional<std::int64_t> flops, bytes;
  std::optional<double> ms;
};

/// What something comes to at the least and at the most extents of the inputs (the InputSpecs' min and max, as far in
/// as the plan's conditions hold). Only where extents are open. Between them it may be less or more: extents that are
/// rounded or subtracted need not grow with those of the inputs.
struct CostRange {
  CostAt least, most;
};

/// Nodes that run as one kernel, and its contract: what it reads at which types, what it calculates and accumulates in,
/// which inner edges it holds at which type, what it writes. Each node calculates in Plan::calculates and reads what it
/// finds in memory in that type.
struct FusedNode {
  FusedNodeId id;
  std::string name;  ///< names of its nodes joined by " + "
  std::string kind;  ///< "conv", "matmul", "attention", "pointwise", "softmax", "layer_norm", "view", "gather", …;
                     ///< kinds.h lists them
  std::string rule;  ///< the fusion rule that made it; empty for a node on its own
  SegmentId segment;
  NodeId root;                ///< the node that gives it its kind
  std::vector<NodeId> nodes;  ///< graph order; the root is among them
  std::vector<OriginId> origins;
  std::vector<ValueId> inputs;  ///< non-constant values from outside, in first-use order
  std::vector<DataType> reads;  ///< as inputs: the type at which each is handed to the kernel
  std::vector<FusedOutput> outputs;
  std::vector<InnerEdge> innerEdges;
  Bindings bindings;            ///< what its nodes and values are to the kernel
  std::vector<NodeId> oneType;  ///< nodes that the kernel can only calculate in one type
  Hash128 identity;  ///< of the origins it covers: the same in every plan that has a fused node of these nodes
  DataType compute = DataType::Undefined;     ///< of the root, or of the nodes that must have one type
  DataType accumulate = DataType::Undefined;  ///< sums and inner values
  std::optional<std::int64_t> flops;          ///< null where an extent is not known
  std::optional<std::int64_t> bytes;          ///< inputs, weights and outputs moved
  std::optional<double> predictedMs;          ///< of its kernel; null where it is not known, or no single number
  PriceSource predictedHow = PriceSource::Unknown;
  double predictedSpread = 0;        ///< relative, see Price
  std::optional<BodyTime> bodyTime;  ///< of a node with bodies, where theirs are known; else nothing
  std::optional<CostRange> range;    ///< null where the inputs' extents are fixed
};

/// A conversion that the plan adds. Between `producer` (invalid: an input or constant) and each of `consumers`
/// (empty: an output of the network).
struct PlannedCast {
  ValueId value;
  DataType from = DataType::Undefined;
  DataType to = DataType::Undefined;
  FusedNodeId producer;
  std::vector<FusedNodeId> consumers;
  std::optional<std::int64_t> bytes;  ///< read plus written
  std::string reason;  ///< "pin", "precision", "truncation", "model_output", "model_input", "segment_boundary"
  std::optional<double> predictedMs;  ///< of the conversion's step; null where it is not known
  PriceSource predictedHow = PriceSource::Unknown;
  double predictedSpread = 0;      ///< relative, see Price
  std::optional<CostRange> range;  ///< without work; null where the inputs' extents are fixed
};

struct PrecisionGrant {
  NodeId node;
  DataType asked = DataType::Undefined;  ///< Undefined: nothing was asked
  DataType granted = DataType::Undefined;
  Cause by;  ///< a directive, "precision", "price_model", "default"
  TypeReason reason = TypeReason::Default;
};

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

struct Plan;

/// The plan of a body of an accelerated node: the same target and options over the body's graph, whose inputs and
/// outputs are of the types that its holder reads and leaves. Directives of "HOLDER/…" are handed down to it.
struct PlannedBody {
  NodeId holder;
  std::string attribute;  ///< "then_branch", "else_branch", "body"
  std::shared_ptr<const Plan> plan;
};

struct PlanOptions {
  std::string target = "cpu";
  std::vector<DataType> precisions;  ///< besides f32, where nothing is pinned; empty: f32 alone
  Directives directives;
  std::int64_t workspaceBytes = 0;                  ///< 0: no limit
  std::shared_ptr<const Ranges> ranges{};           ///< of activations and weights: what int8 needs; null: none
  WeightOnly weightOnly{};                          ///< of products that are not quantised otherwise
  bool operator==(const PlanOptions& other) const;  ///< of ranges: by content
};

/// The floats among the types of `options`: what is not quantised is calculated in.
std::vector<DataType> floatPrecisions(const PlanOptions& options);

/// What will be done with a model: an overlay over its Graph. Immutable; equal inputs give equal plans to the byte.
struct Plan {
  std::string source = "planned";  ///< or "read_back"
  std::shared_ptr<const Model> model;
  Target target;
  PlanOptions options;
  std::vector<InputSpec> inputSpecs;
  std::vector<Segment> segments;
  std::vector<FusedNode> fusedNodes;         ///< producers before consumers
  std::vector<PlannedBody> bodies;           ///< of accelerated nodes, in graph order, then by attribute
  std::vector<PrecisionGrant> precisionMap;  ///< one per node, graph order
  TruncationPlan truncation;
  std::vector<PlannedCast> casts;
  PriceChoices priced;                      ///< what prices decided
  std::vector<TypeConflict> typeConflicts;  ///< in the order in which they were met
  std::vector<WishAnswer> answers;          ///< what became of directives, those handed to bodies included; of a draft
                                            ///< none, as it has no decisions
  std::optional<PinsTogether> pinsTogether;
  /// Explains what stands above to people: the model's first, then the planner's in the order of the pipeline.
  std::vector<Decision> decisions;
  std::optional<double> predictedMs;  ///< of all kernels and conversions; null unless each is one known number
  Hash128 hash;                       ///< of model, target, directives, options and the measured times used
  std::vector<DataType> calculates;   ///< by NodeId: what it calculates in; Undefined for moves and what has no floats
  std::vector<FusedNodeId> fusedOfNode;        ///< by NodeId; empty for a plan that index() was not called on
  std::vector<DataType> storedTypes;           ///< by ValueId; as fusedOfNode
  void index();                                ///< fills the two tables above from the rest of the plan
  std::shared_ptr<const Structure> structure;  ///< what it is before types; handed to the next plan of the same model

  const Graph& graph() const { return *model->graph; }
  /// The fused node that holds `node`. Plans of our own hold every node once.
  const FusedNode* fusedNodeOf(NodeId node) const;
  /// Whether a fused node is in a fallback segment: it runs on the reference, in the types of the model.
  bool inFallback(const FusedNode& fused) const;
  /// Whether `node` reads a float that its kernel finds in memory or a constant, itself or through moves: what such a
  /// node calculates in says what is rounded. All other floats it gets from inside the kernel.
  bool readsMemory(NodeId node) const;
  const FusedNode* findFusedNode(std::string_view name) const;
  /// The plan of a body of `holder`; null where it is run as it is, operator by operator.
  const Plan* bodyPlan(NodeId holder, std::string_view attribute) const;
  /// The type of `value` as it stands in memory under this plan (after truncation and precision), before casts.
  DataType storedType(ValueId value) const;
};

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
