#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/ids.h"
#include "calibration/weight_only.h"
#include "ir/model.h"
#include "planning/bindings.h"
#include "planning/directive.h"
#include "planning/prices/price.h"
#include "planning/read_back/compiler_support.h"
#include "planning/types/type_reason.h"
#include "target/target.h"

namespace fusescope {

class Graph;
struct KernelBindings;
struct Ranges;

enum class SegmentKind { Accelerated, Fallback };
std::string_view name(SegmentKind kind);  ///< "accelerated", "fallback"

/// A maximal convex set of nodes that one backend runs.
struct Segment {
  SegmentId id;
  SegmentKind kind = SegmentKind::Accelerated;
  std::string name;           ///< "segment_0"
  std::string backend;        ///< "native", "reference", "tensorrt"; another compiler's name, and then "fusescope" in fallback
  std::vector<NodeId> nodes;  ///< graph order
};

/// A value that one node of a fused node passes to another. If `real` is true, the kernel writes it to memory, rounded
/// to `type`. Otherwise it is inner: it exists only in registers, in the kernel's accumulate type or in the narrower
/// type to which the contract narrows it.
struct InnerEdge {
  ValueId value;
  bool real = false;
  DataType type = DataType::Undefined;
};

/// A value that a fused node writes to memory. `type` is its type before any cast.
struct FusedOutput {
  ValueId value;
  DataType type = DataType::Undefined;
};

/// The cost of one run at other extents of the inputs than the usual ones. A number is null if it is unknown.
struct CostAt {
  std::optional<std::int64_t> flops, bytes;
  std::optional<double> ms;
};

/// The costs at the smallest and largest extents of the inputs (min and max of the InputSpecs, as far as the plan's
/// conditions are satisfied). It exists only if extents are open. Extents in between may cost less or more, because
/// extents that are rounded or subtracted do not always grow with those of the inputs.
struct CostRange {
  CostAt least, most;
};

/// The nodes that run as one kernel, and their contract: the types in which the kernel reads its inputs, calculates,
/// accumulates and writes, and those of its inner edges. Plan::calculates has the type in which each node calculates; a
/// node converts what it reads from memory to this type.
struct FusedNode {
  FusedNodeId id;
  std::string name;  ///< the names of its nodes, joined by " + "
  std::string kind;  ///< what the kernel calculates: "conv", "matmul", "attention", …; kinds.h lists all kinds
  std::string rule;  ///< the fusion rule that made it; empty if it is a single node
  SegmentId segment;
  NodeId root;                ///< the node that determines the kind
  std::vector<NodeId> nodes;  ///< graph order; the root is among them
  std::vector<OriginId> origins;
  std::vector<ValueId> inputs;  ///< non-constant values from outside, in the order of first use
  std::vector<DataType> reads;  ///< for each of `inputs`, the type in which the kernel receives it
  std::vector<FusedOutput> outputs;
  std::vector<InnerEdge> innerEdges;
  Bindings bindings;  ///< the roles of its nodes and values in the kernel, as recorded by the rule that matched
  /// The kernel binding that follows from `bindings`; null in a read-back plan.
  std::shared_ptr<const KernelBindings> kernel;
  std::vector<NodeId> oneType;  ///< nodes that the kernel can calculate only in one common type
  Hash128 identity;  ///< hash of the origins that it covers; equal in every plan that has a fused node of these nodes
  DataType compute = DataType::Undefined;     ///< type of the root, or of the nodes that must have one type
  DataType accumulate = DataType::Undefined;  ///< type of sums and of inner values
  std::optional<std::int64_t> flops;          ///< null if an extent is unknown
  std::optional<std::int64_t> bytes;          ///< bytes of inputs, weights and outputs; null if an extent is unknown
  std::optional<double> predictedMs;  ///< predicted time of its kernel; null if it is unknown or not a single number
  PriceSource predictedHow = PriceSource::Unknown;
  double predictedSpread = 0;        ///< relative; see Price
  std::optional<BodyTime> bodyTime;  ///< for a node with bodies whose times are known
  std::optional<CostRange> range;    ///< null if the inputs' extents are fixed
};

/// A conversion that the plan adds between `producer` (invalid for an input or a constant) and each of `consumers`
/// (none for an output of the network).
struct PlannedCast {
  ValueId value;
  DataType from = DataType::Undefined;
  DataType to = DataType::Undefined;
  FusedNodeId producer;
  std::vector<FusedNodeId> consumers;
  std::optional<std::int64_t> bytes;  ///< bytes that are read plus bytes that are written
  std::string reason;  ///< "pin", "precision", "truncation", "model_output", "model_input", "segment_boundary"
  std::optional<double> predictedMs;  ///< predicted time of the conversion's step; null if it is unknown
  PriceSource predictedHow = PriceSource::Unknown;
  double predictedSpread = 0;      ///< relative; see Price
  std::optional<CostRange> range;  ///< without flops; null if the inputs' extents are fixed
};

struct PrecisionGrant {
  NodeId node;
  DataType asked = DataType::Undefined;  ///< Undefined if no type was asked for
  DataType granted = DataType::Undefined;
  Cause by;  ///< a directive, "precision", "price_model" or "default"
  TypeReason reason = TypeReason::Default;
};

/// The name of our own compiler.
inline constexpr const char* kOwnCompiler = "fusescope";

struct PlanOptions {
  std::string compiler = kOwnCompiler;  ///< the compiler that is to compile the network; planning uses only its name
  /// Options that are passed to the compiler, such as "level" → "extended". Planning does not use them.
  std::map<std::string, std::string> compilerOptions{};
  std::string target = "cpu";
  std::vector<DataType> precisions;  ///< types that nodes without pins may use besides f32; empty: only f32
  Directives directives;
  std::int64_t workspaceBytes = 0;         ///< 0: no limit
  std::shared_ptr<const Ranges> ranges{};  ///< ranges of activations and weights, which int8 needs; may be null
  WeightOnly weightOnly{};  ///< how the weights of products that are not quantised otherwise become codes
  /// What the compiler stated about the network's nodes when it was asked. It is an answer that the plan stores, not a
  /// directive. Null if the compiler was not asked.
  std::shared_ptr<const CompilerSupport> support{};
  bool operator==(const PlanOptions& other) const;  ///< compares the contents of ranges and support
};

/// Returns the float types of `options`, in which everything that is not quantised is calculated.
std::vector<DataType> floatPrecisions(const PlanOptions& options);

struct Cover;

/// The cover of a body of a node, over the body's graph. In a Plan it is a Plan; see plannedBody().
struct CoverBody {
  NodeId holder;
  std::string attribute;  ///< "then_branch", "else_branch", "body"
  std::shared_ptr<const Cover> cover;
};

/// Where the contents of a Cover come from.
enum class CoverSource {
  Planned,  ///< from our planner: the Cover is a Plan, and each node is in exactly one fused node
  ReadBack  ///< from the compiler: the Cover is a ReadBackPlan, and a node may be in several fused nodes or in none
};
std::string_view name(CoverSource source);  ///< "planned", "read_back"

/// What a Plan and a ReadBackPlan have in common: the kernels that a network becomes, over the nodes of its Graph. It
/// is what is drawn, listed and compared. It does not change after it was published.
struct Cover {
  CoverSource source = CoverSource::Planned;
  std::shared_ptr<const Model> model;
  Target target;
  PlanOptions options;  ///< the options with which the plan was requested
  std::vector<InputSpec> inputSpecs;
  std::vector<Segment> segments;
  std::vector<FusedNode> fusedNodes;         ///< producers before consumers
  std::vector<CoverBody> bodies;             ///< in graph order, then by attribute
  std::vector<PrecisionGrant> precisionMap;  ///< one per node, graph order
  std::vector<PlannedCast> casts;
  /// Explains the fields above to people. The decisions of the model come first, then those of the plan in the order in
  /// which they were made.
  std::vector<Decision> decisions;
  std::optional<double> predictedMs;  ///< sum of all kernels and conversions; null unless each has a single known time
  /// By NodeId: the type in which the node calculates; Undefined for moves and for nodes without floats.
  std::vector<DataType> calculates;
  /// By NodeId: the first fused node that contains it; empty until index() is called.
  std::vector<FusedNodeId> fusedOfNode;
  std::vector<DataType> storedTypes;  ///< by ValueId; empty until index() is called

  const Graph& graph() const { return *model->graph; }
  /// Returns the first fused node that contains `node`, or null.
  const FusedNode* fusedNodeOf(NodeId node) const;
  /// Returns whether a fused node is in a fallback segment, so that it runs on our reference backend in the types of
  /// the model.
  bool inFallback(const FusedNode& fused) const;
  const FusedNode* findFusedNode(std::string_view name) const;
  /// Returns the type of `value` in memory, after truncation and precision and before casts. Until index() is called,
  /// the types of constants are those before truncation.
  DataType storedType(ValueId value) const;
};

}  // namespace fusescope
