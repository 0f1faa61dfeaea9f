#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json_fwd.h"
#include "planning/plan.h"
#include "planning/read_back/agreement.h"

namespace fusescope {

class Graph;

/// How it is known that a kernel contains a node.
enum class Certainty {
  Verified,  ///< the kernel's results were compared with the node's numbers
  Named,     ///< the compiler names the node
  Derived,   ///< the node lies between tensors that the compiler names
  Guessed    ///< nothing that the compiler says rules it out
};
std::string_view name(Certainty certainty);  ///< "verified", …

/// What happened to a node. Every node has exactly one fate.
enum class Fate {
  Kernel,       ///< it is calculated by one or more kernels
  Folded,       ///< it was calculated when the network was compiled
  Removed,      ///< its results are not needed, or it has no effect
  View,         ///< its result is the memory of its input
  Merged,       ///< an equal node is calculated instead
  Fallback,     ///< the compiler refused it or was not given it; our own engine runs it
  NotDisclosed  ///< the compiler does not say
};
std::string_view name(Fate fate);  ///< "kernel", "folded", …

/// Which compiler made something, in which environment, with which options.
struct CompilerIdentity {
  std::string name, version;
  std::string environment;  ///< the command that starts it; empty if it is part of this program
  std::map<std::string, std::string> options{};
  bool operator==(const CompilerIdentity&) const = default;
};

/// A value that a kernel reads or writes.
struct KernelValue {
  ValueId value;  ///< invalid if it is not a value of the network
  DataType type = DataType::Undefined;
  std::string format;  ///< in the compiler's own words: "nchw", "NCHWc16"; empty if it is not reported
};

/// A kernel as its compiler reports it, from which a ReadBackPlan is made. Ids are those of the plan that was asked
/// for.
struct ReadBackKernel {
  std::string name, kind;  ///< in the compiler's words; `kind` is a FusedNode::kind where it is one of ours
  std::vector<std::pair<NodeId, Certainty>> nodes{};  ///< empty if it only moves or prepares data
  std::vector<KernelValue> inputs{}, outputs{};       ///< as far as they are reported
  DataType compute = DataType::Undefined;
  std::string region{};  ///< the region that contains it; empty if there is none
  bool once = false;     ///< it runs when the network is prepared, and not in each run
  /// It calculates no node of the network, but converts, moves or synchronises. It may have a node in a network that
  /// was itself made of the reported kernels.
  bool converts = false;
  std::optional<double> ms{};
  /// It is a kernel of our own engine for nodes of a fallback segment. If nothing is reported about such nodes, they
  /// are as planned.
  bool isOurs = false;
  /// The optimiser of the compiler that made the kernel, by the compiler's name for it ("MatMulAddFusion"); empty if
  /// none did or it is not reported.
  std::string optimiser{};
};

/// A conversion that the compiler added to an edge.
struct ReadBackConversion {
  ValueId value;         ///< invalid if it is not a value of the network
  std::string from, to;  ///< types of a cast, or formats of a reformat
  bool isCast = false;
  std::string kernel{};  ///< the kernel that does it; empty if it is not reported
};

enum class PinResult {
  Obeyed,
  Ignored,
  Widened,
  Moved,          ///< a kernel beside the node has the type, and nobody asked for it there
  WithoutKernel,  ///< no kernel calculates the node, so that nothing has the type; its Fate says what happened to it
  NotDisclosed
};
std::string_view name(PinResult result);  ///< "obeyed", …
/// Why a node does not have the type that was asked for, as far as it is known.
enum class PinCause {
  None,            ///< it has the type, or the compiler gives a reason only in its own words
  NotApplied,      ///< the compiler was not told to use the type
  OnlyPreferred,   ///< the compiler was told to prefer the type, and may use another
  TypeNotEnabled,  ///< the compiler was told not to use this type in the network
  NoTactic,        ///< the compiler says that none of its kernels supports the type
  TargetRefuses,   ///< the rules of the target refuse it, as the plan that was asked for says
  WithoutKernel,   ///< no kernel of the compiler calculates it; its Fate says what happened to it
  InRegion,        ///< its kernel is in a region whose types the compiler chooses as a whole
  SharesKernel,    ///< its kernel also calculates nodes for which the kernel's type was asked for
  NotDisclosed     ///< nothing that the compiler reports explains it
};
std::string_view name(PinCause cause);  ///< "none", "not_applied", …
/// The result of asking for a type of a node.
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
/// What prevents a node from having a type, as the compiler or the log of its build reports it. It is used only if the
/// node has another type than was asked for.
struct PinHindrance {
  PinCause cause = PinCause::NotDisclosed;
  std::string why{};  ///< a sentence
};

/// A layer of an engine whose nodes are not known.
struct UnplacedLayer {
  std::string layer, why;
  std::vector<NodeId> nearest{};  ///< nodes that it may contain, the most likely first
};

/// How the layers of an engine that was built elsewhere were assigned to nodes of the network, as its files describe
/// it.
struct Placement {
  std::int64_t layers = 0, placed = 0;  ///< the number of layers, and of those whose nodes are known
  std::int64_t conversions = 0;         ///< layers without nodes that convert, move or synchronise
  std::vector<UnplacedLayer> unplaced{};
  std::vector<std::string> files{};   ///< the files that it was read from
  std::string device{};               ///< the device on which the engine was built or measured; empty if unknown
  std::string times{};                ///< what the times of kernels are: "medians of 100 runs"; empty if there are none
  std::optional<double> latencyMs{};  ///< the median latency of a whole run; null if no file gives it
  std::optional<std::int64_t> runs{};  ///< the number of runs of that median
};

/// A compiler's report about the network that it compiled, with ids of the plan that was asked for.
struct ReadBack {
  CompilerIdentity compiler{};
  std::vector<ReadBackKernel> kernels{};  ///< in the order in which they run
  /// The fates of nodes without a kernel, as far as the compiler reports them. A node of a fallback segment always has
  /// the fate Fallback, whatever is reported.
  std::map<NodeId, Fate> fates{};
  std::vector<ReadBackConversion> conversions{};
  /// The results that the compiler itself reports; others are derived from the kernels.
  std::vector<ReadBackPin> pins{};
  std::map<NodeId, PinHindrance> hindrances{};  ///< of nodes whose results are derived from the kernels
  std::vector<Decision> decisions{};
  std::optional<Placement> placement{};  ///< for an engine that was read from files
};

/// The kernels that a compiler made of a network. A node may be in several fused nodes, or in none; `fates` says why.
/// Fused nodes are the compiler's kernels; those of fallback segments are of our own engine. It is immutable, like a
/// Plan.
struct ReadBackPlan : Cover {
  /// What else is known of a fused node that is a kernel of the compiler.
  struct Kernel {
    std::vector<Certainty> certainty;  ///< as FusedNode::nodes
    std::vector<KernelValue> inputs, outputs;
    std::string region;
    bool once = false;
    bool converts = false;  ///< ReadBackKernel::converts
    bool isOurs = false;    ///< it is a kernel of our own engine, in a fallback segment
    std::optional<double> ms{};
    std::string optimiser{};  ///< ReadBackKernel::optimiser
  };
  CompilerIdentity compiler;
  std::shared_ptr<const Plan>
      requested;                ///< the plan that was asked for, with its types and our prediction of the kernels
  std::vector<Kernel> kernels;  ///< by FusedNodeId
  std::vector<std::vector<FusedNodeId>> kernelsOfNode;  ///< by NodeId: the fused nodes that contain it, ascending
  std::vector<Fate> fates;                              ///< by NodeId
  std::vector<ReadBackConversion> conversions;
  std::vector<ReadBackPin> pins;  ///< in the order of the graph
  /// The field of ReadBack, for code that combines several such plans. It is not written into files.
  std::map<NodeId, PinHindrance> hindrances;
  std::vector<NodeSupport> support;    ///< one per node, in the order of the graph
  Agreement agreement;                 ///< of the plan that was asked for
  std::optional<Placement> placement;  ///< for an engine that was built elsewhere and read from files

  Fate fateOf(NodeId node) const { return fates[node.index]; }
  /// Returns the fused nodes that contain `node`, ascending.
  const std::vector<FusedNodeId>& kernelsOf(NodeId node) const { return kernelsOfNode[node.index]; }
};

/// Returns `cover` as a ReadBackPlan, or null if it is a Plan.
const ReadBackPlan* asReadBack(const Cover& cover);

/// Returns the plan that was asked for, or `cover` itself if it is a Plan. Its structure and hash apply to both.
const Plan& requestedPlan(const Cover& cover);

/// Returns the fused nodes of `cover` that contain `node`, ascending. In a Plan there is exactly one.
std::vector<FusedNodeId> kernelsOf(const Cover& cover, NodeId node);

/// Builds the read-back plan from what the compiler reported. Its segments are those of `asked`; fallback segments run
/// on our own engine. Errors name their place: a kernel that contains a node twice, a kernel of the compiler with a
/// node of a fallback segment, a kernel of ours with another node, and a node that the network does not have.
Result<std::shared_ptr<const ReadBackPlan>> readBackPlan(std::shared_ptr<const Plan> asked, const ReadBack& told);

/// Writes the keys of a pin that planning/FORMAT.md describes, except `node`. `graph` is the graph that contains the
/// values of `pin.cut`.
Json toJson(const Graph& graph, const ReadBackPin& pin);
/// Returns the keys of a plan with `source` "read_back", and the keys that only read-back plans have
/// (planning/FORMAT.md).
Json toJson(const ReadBackPlan& plan);
/// Returns the JSON of a Plan or a ReadBackPlan.
Json coverJson(const Cover& cover);
/// Reads a read-back plan over the plan that was asked for. The JSON contains text of a compiler, so that everything is
/// checked against the network.
Result<std::shared_ptr<const ReadBackPlan>> readBackPlanFromJson(const Json& json, std::shared_ptr<const Plan> asked);

}  // namespace fusescope
