#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "planning/plan.h"

namespace fusescope {

/// How it is known that a kernel holds a node.
enum class Certainty {
  Verified,  ///< what the kernel gives was compared with the node's numbers
  Named,     ///< the compiler names the node
  Derived,   ///< the node lies between tensors that the compiler names
  Guessed    ///< nothing that the compiler says rules it out
};
std::string_view name(Certainty certainty);  ///< "verified", …

/// What became of a node. Every node has one fate.
enum class Fate {
  Kernel,       ///< kernels calculate it
  Folded,       ///< it was calculated when the network was compiled
  Removed,      ///< nobody needs what it makes, or it does nothing
  View,         ///< what it makes is seen in the memory of what it reads
  Merged,       ///< an equal node is calculated in its place
  Fallback,     ///< the compiler refused it, or was kept from it: our own engine runs it
  NotDisclosed  ///< the compiler does not say
};
std::string_view name(Fate fate);  ///< "kernel", "folded", …

/// Who compiled, where, and how.
struct CompilerIdentity {
  std::string name, version;
  std::string environment;  ///< the command that starts it; empty: it is part of this program
  std::map<std::string, std::string> options{};
  bool operator==(const CompilerIdentity&) const = default;
};

/// A value that a kernel reads or writes.
struct KernelValue {
  ValueId value;  ///< invalid: none of the network's
  DataType type = DataType::Undefined;
  std::string format;  ///< of the compiler's own words: "nchw", "NCHWc16"; empty: it does not say
};

/// A kernel as its compiler tells of it: what ReadBackPlan is made of. Ids are of the plan that was asked for.
struct ReadBackKernel {
  std::string name, kind;  ///< the compiler's words; `kind` as FusedNode::kind where it is one of ours
  std::vector<std::pair<NodeId, Certainty>> nodes{};  ///< empty: it moves or prepares something
  std::vector<KernelValue> inputs{}, outputs{};       ///< as far as they are told
  DataType compute = DataType::Undefined;
  std::string region{};  ///< that it is inside of; empty: none
  bool once = false;     ///< it runs when the network is prepared, not in each run
  /// It calculates nothing of the network: it converts, moves or synchronises, also where a network that was made of
  /// the kernels themselves has a node for it.
  bool converts = false;
  std::optional<double> ms{};
  /// It is a kernel of our own engine, of nodes of a fallback segment. Such nodes of which nothing is told are as
  /// planned.
  bool isOurs = false;
};

/// A conversion that the compiler put on an edge.
struct ReadBackConversion {
  ValueId value;         ///< invalid: none of the network's
  std::string from, to;  ///< types of a cast, formats of a reformat
  bool isCast = false;
  std::string kernel{};  ///< that does it; empty: not told
};

enum class PinResult { Obeyed, Ignored, Widened, NotDisclosed };
std::string_view name(PinResult result);  ///< "obeyed", …
/// Why a node has not the type that was asked of it, as far as it is known.
enum class PinCause {
  None,            ///< it has the type, or the compiler gives a reason in its own words alone
  NotApplied,      ///< the compiler was not told of the type
  OnlyPreferred,   ///< the compiler was told to prefer the type, and need not obey
  TypeNotEnabled,  ///< the compiler was told to use no such type in this network
  NoTactic,        ///< the compiler says that none of its kernels obeys the type
  TargetRefuses,   ///< the rules of the target refuse it, as the plan that was asked for says
  WithoutKernel,   ///< no kernel of the compiler calculates it: its Fate says what became of it
  InRegion,        ///< its kernel is in a region, of which the compiler chooses the types as a whole
  SharesKernel,    ///< its kernel calculates nodes as well of which the type was asked that it has
  NotDisclosed     ///< nothing that the compiler tells says why
};
std::string_view name(PinCause cause);  ///< "none", "not_applied", …
/// What became of a type that was asked of a node.
struct ReadBackPin {
  NodeId node;
  DataType asked = DataType::Undefined;
  std::optional<DataType> granted{};
  PinResult result = PinResult::NotDisclosed;
  PinCause cause = PinCause::None;
  std::string why{};
  /// For a pin that is not obeyed: the inner values between the node and the other nodes of its kernels. A separate
  /// kernel for the node, in its own type, would begin and end at these values.
  std::vector<ValueId> cut{};
};
/// What keeps a type from a node, as the compiler or the log of its build tells. It counts where the node has another
/// type than was asked of it.
struct PinHindrance {
  PinCause cause = PinCause::NotDisclosed;
  std::string why{};  ///< a sentence
};

/// How well we predict which nodes share a kernel, counted over edges: those of which the compiler runs both ends by
/// kernels of its own.
struct Agreement {
  std::int64_t edges = 0, predicted = 0, made = 0, both = 0;  ///< edges; those inside a kernel: of ours, theirs, both
  std::optional<double> precision() const, recall() const, f1() const;  ///< null where there is nothing to divide by
};

/// A layer of an engine of which it is not known which nodes it holds.
struct UnplacedLayer {
  std::string layer, why;
  std::vector<NodeId> nearest{};  ///< the nodes that it may hold, the likeliest first
};

/// How the layers of an engine, as files tell of them, were found again in a network: of an engine that Fusescope did
/// not have built.
struct Placement {
  std::int64_t layers = 0, placed = 0;  ///< all; those of which nodes are known
  std::int64_t conversions = 0;         ///< those without nodes that convert, move or synchronise
  std::vector<UnplacedLayer> unplaced{};
  std::vector<std::string> files{};    ///< that it was read from
  std::string device{};                ///< that the engine was built or measured on; empty: the files do not say
  std::string times{};                 ///< what times of kernels count: "medians of 100 runs"; empty: there are none
  std::optional<double> latencyMs{};   ///< of a whole run, the median; null: no file says it
  std::optional<std::int64_t> runs{};  ///< of which it is the median
};

/// What a compiler tells of the network that it compiled, in the ids of the plan that was asked for.
struct ReadBack {
  CompilerIdentity compiler{};
  std::vector<ReadBackKernel> kernels{};  ///< in the order in which they run
  /// The fates of nodes without a kernel, as far as the compiler reports them. A node of a fallback segment always has
  /// the fate Fallback, whatever is reported.
  std::map<NodeId, Fate> fates{};
  std::vector<ReadBackConversion> conversions{};
  std::vector<ReadBackPin> pins{};  ///< where the compiler itself tells; else they are found from the kernels
  std::map<NodeId, PinHindrance> hindrances{};  ///< of nodes whose pins are found from the kernels
  std::vector<Decision> decisions{};
  std::optional<Placement> placement{};  ///< of what was read from files of an engine
};

/// What a compiler made of a network: a covering. A node may be in several fused nodes, or in none: fates says why.
/// Fused nodes are the compiler's kernels; those of fallback segments are our own engine's. Immutable, as a Plan.
struct ReadBackPlan : Cover {
  /// What else is known of a fused node that is a kernel of the compiler.
  struct Kernel {
    std::vector<Certainty> certainty;  ///< as FusedNode::nodes
    std::vector<KernelValue> inputs, outputs;
    std::string region;
    bool once = false;
    bool converts = false;  ///< ReadBackKernel::converts
    bool isOurs = false;    ///< of a fallback segment: a kernel of our own engine
    std::optional<double> ms{};
  };
  CompilerIdentity compiler;
  std::shared_ptr<const Plan> asked;  ///< what was asked for: its types, and our prediction of the kernels
  std::vector<Kernel> kernels;        ///< by FusedNodeId
  std::vector<std::vector<FusedNodeId>> kernelsOfNode;  ///< by NodeId: the fused nodes that hold it, ascending
  std::vector<Fate> fates;                              ///< by NodeId
  std::vector<ReadBackConversion> conversions;
  std::vector<ReadBackPin> pins;  ///< in the order of the graph
  /// ReadBack::hindrances, for whoever puts a plan together of such of parts; they are not written into files.
  std::map<NodeId, PinHindrance> hindrances;
  std::vector<NodeSupport> support;  ///< one per node, in the order of the graph
  Agreement agreement;
  std::optional<Placement> placement;  ///< of what was read from files of an engine that others had built

  Fate fateOf(NodeId node) const { return fates[node.index]; }
  /// The fused nodes that hold `node`, ascending.
  const std::vector<FusedNodeId>& kernelsOf(NodeId node) const { return kernelsOfNode[node.index]; }
};

/// `cover` as the ReadBackPlan that it is; null: it was planned.
const ReadBackPlan* asReadBack(const Cover& cover);

/// The plan that `cover` is, or that was asked for: its structure and its hash are those of both.
const Plan& askedPlan(const Cover& cover);

/// The fused nodes of `cover` that hold `node`, ascending: of a Plan one.
std::vector<FusedNodeId> kernelsOf(const Cover& cover, NodeId node);

/// Builds the read-back plan from what the compiler reported. Its segments are those of `asked`; fallback segments run
/// on our own engine. Errors name their place: a kernel that contains a node twice, a kernel of the compiler with a
/// node of a fallback segment, a kernel of ours with another node, and a node that the network does not have.
Result<std::shared_ptr<const ReadBackPlan>> readBackPlan(std::shared_ptr<const Plan> asked, const ReadBack& told);

/// Writes the keys of a pin that planning/FORMAT.md describes, except `node`. `graph` is the graph that contains the
/// values of `pin.cut`.
Json toJson(const Graph& graph, const ReadBackPin& pin);
/// The keys of a plan, `source` "read_back", and those of planning/FORMAT.md that only such plans have.
Json toJson(const ReadBackPlan& plan);
/// Of a Plan or a ReadBackPlan.
Json coverJson(const Cover& cover);
/// Reads one back over the plan that was asked for. Text that a compiler wrote is in it: nothing is believed that does
/// not fit the network.
Result<std::shared_ptr<const ReadBackPlan>> readBackPlanFromJson(const Json& json, std::shared_ptr<const Plan> asked);

}  // namespace fusescope
