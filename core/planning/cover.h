#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "calibration/weight_only.h"
#include "ir/model.h"
#include "planning/bindings.h"
#include "planning/compiler_support.h"
#include "planning/directive.h"
#include "planning/price.h"
#include "planning/type_reason.h"
#include "target/target.h"

namespace fusescope {

struct KernelBindings;
struct Ranges;

enum class SegmentKind { Accelerated, Fallback };
std::string_view name(SegmentKind kind);  ///< "accelerated", "fallback"

/// A maximal convex set of nodes that one backend runs.
struct Segment {
  SegmentId id;
  SegmentKind kind = SegmentKind::Accelerated;
  std::string name;           ///< "segment_0"
  std::string backend;        ///< "native", "reference", "tensorrt"; of another compiler its name
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
  Bindings bindings;  ///< what its nodes and values are to the kernel, as the rule that matched says
  /// What follows from these for the nodes that it has; null in a cover that was read back.
  std::shared_ptr<const KernelBindings> kernel;
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

/// The compiler that is ours.
inline constexpr const char* kOwnCompiler = "fusescope";

struct PlanOptions {
  std::string compiler = kOwnCompiler;  ///< what is to compile the network; planning asks it nothing
  /// What the compiler is to be told besides: "level" → "extended". Planning does not look at it.
  std::map<std::string, std::string> compilerOptions{};
  std::string target = "cpu";
  std::vector<DataType> precisions;  ///< besides f32, where nothing is pinned; empty: f32 alone
  Directives directives;
  std::int64_t workspaceBytes = 0;         ///< 0: no limit
  std::shared_ptr<const Ranges> ranges{};  ///< of activations and weights: what int8 needs; null: none
  WeightOnly weightOnly{};                 ///< of products that are not quantised otherwise
  /// What the compiler said of the network's nodes when it was asked: an answer that a plan keeps, not a wish. Null: it
  /// was not asked.
  std::shared_ptr<const CompilerSupport> support{};
  bool operator==(const PlanOptions& other) const;  ///< of ranges and support: by content
};

/// The floats among the types of `options`: what is not quantised is calculated in.
std::vector<DataType> floatPrecisions(const PlanOptions& options);

struct Cover;

/// What is made of a body of a node: the same over the body's graph. In a Plan it is a Plan: plannedBody().
struct CoverBody {
  NodeId holder;
  std::string attribute;  ///< "then_branch", "else_branch", "body"
  std::shared_ptr<const Cover> cover;
};

/// Who says what a Cover says.
enum class CoverSource {
  Planned,  ///< our planner: the Cover is a Plan, and each node is in exactly one fused node
  ReadBack  ///< the compiler that was asked: the Cover is a ReadBackPlan; a node may be in several fused nodes or none
};
std::string_view name(CoverSource source);  ///< "planned", "read_back"

/// Which kernels a network becomes, over the nodes of its Graph: what is drawn, listed and compared, whoever says it.
/// Immutable once published.
struct Cover {
  CoverSource source = CoverSource::Planned;
  std::shared_ptr<const Model> model;
  Target target;
  PlanOptions options;  ///< what was asked
  std::vector<InputSpec> inputSpecs;
  std::vector<Segment> segments;
  std::vector<FusedNode> fusedNodes;         ///< producers before consumers
  std::vector<CoverBody> bodies;             ///< in graph order, then by attribute
  std::vector<PrecisionGrant> precisionMap;  ///< one per node, graph order
  std::vector<PlannedCast> casts;
  /// Explains what stands above to people: the model's first, then in the order in which they were taken.
  std::vector<Decision> decisions;
  std::optional<double> predictedMs;  ///< of all kernels and conversions; null unless each is one known number
  std::vector<DataType> calculates;   ///< by NodeId: what it calculates in; Undefined for moves and what has no floats
  std::vector<FusedNodeId> fusedOfNode;  ///< by NodeId: the first that holds it; empty where index() was not called
  std::vector<DataType> storedTypes;     ///< by ValueId; as fusedOfNode

  const Graph& graph() const { return *model->graph; }
  /// The first fused node that holds `node`; null: none does.
  const FusedNode* fusedNodeOf(NodeId node) const;
  /// Whether a fused node is in a fallback segment: it runs on our reference, in the types of the model.
  bool inFallback(const FusedNode& fused) const;
  const FusedNode* findFusedNode(std::string_view name) const;
  /// The type of `value` as it stands in memory (after truncation and precision), before casts.
  DataType storedType(ValueId value) const;
};

struct Plan;
/// `cover` as the Plan that it is; null: it was read back.
const Plan* asPlan(const Cover& cover);

}  // namespace fusescope
