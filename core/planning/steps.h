#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "planning/bindings.h"
#include "planning/directive_map.h"
#include "planning/plan.h"

// The steps of the planner, each a pure function of what the steps before it found. pipeline.cpp is the recipe.
// Tables are indexed by NodeId or ValueId; ids that a graph does not hold have default entries.

namespace fusescope {

/// What a truncation makes of the values of one body, at whatever depth, of a node of the graph.
struct TruncatedBody {
  NodeId holder;  ///< the node of the graph that holds it
  const Subgraph* body = nullptr;
  std::vector<DataType> types;     ///< by ValueId of the body
  std::vector<Decision> narrowed;  ///< said if the holder runs accelerated
};

/// The types of values inside accelerated segments, and which truncations make them so.
struct Truncation {
  TruncationPlan plan;
  /// For each ValueId: the node that treats every number as large as the lost element as "no limit", so that a constant
  /// may be narrowed although one element does not fit. Invalid if there is no such node.
  std::vector<NodeId> saturatesAt;
  std::vector<DataType> types;        ///< by ValueId: after truncation
  std::vector<char> refused;          ///< by ValueId: a constant that does not survive, or is not known to
  std::vector<TruncatedBody> bodies;  ///< in the order of the graph
  std::unordered_map<const Subgraph*, std::size_t> bodyIndex;
  /// Why a constant stays wide, by its name and the node whose bodies hold it (invalid: a constant of the graph).
  std::map<std::pair<NodeId, std::string>, std::string> whyRefused;
  std::vector<Decision> decisions;

  DataType typeInside(const Subgraph& body, ValueId value) const {
    return bodies[bodyIndex.at(&body)].types[value.index];
  }
};
/// Whose inputs those of a graph are: the network's, or those of a body, which have the types that its holder hands it.
enum class GraphInputs { Open, Handed };
/// Truncates whatever `target` lacks and `modes` cover, as if every node ran accelerated. What a node makes stays wide
/// where a mode alone keeps something wide that it is made of.
Truncation planTruncation(const Graph& graph, const Target& target, TruncateModes modes,
                          GraphInputs inputs = GraphInputs::Open);
/// Whether `mode` narrows a type.
bool narrows(TruncateMode mode, DataType type);
/// The types that `mode` would narrow for `target`: F64 to F32, I64 to I32; others stay.
DataType truncatedType(const Target& target, TruncateMode mode, DataType type);
/// Keeps of `truncation` what accelerated segments really read or produce, and adds its decisions.
void settleTruncation(const Graph& graph, const Target& target, const std::vector<char>& accelerated,
                      const DirectiveMap& directives, const PlanOptions& options, Truncation& truncation);

/// The target's verdict on a node under a plan's truncation.
struct NodeVerdict : TargetVerdict {
  std::optional<TruncateMode> truncation{};  ///< that would lift the refusal
};
/// One per node, by position in graph order, on the types after truncation.
std::vector<NodeVerdict> validateNodes(const Graph& graph, const Target& target, const DirectiveMap& directives,
                                       const Truncation& truncation);

/// An edge between two segments that cannot be one: a path leaves through `through`, which falls back, and comes back.
struct KeptApart {
  NodeId producer, consumer, through;
};

struct Partitioning {
  std::vector<Segment> segments;
  std::vector<SegmentId> segmentOf;  ///< by NodeId
  std::vector<NodeId> unsupported;   ///< nodes that fall back because the target cannot run them
  std::map<NodeId, int> tooSmall;    ///< supported nodes that fall back: how many nodes their segment would have
  std::vector<KeptApart> keptApart;
  std::vector<Decision> decisions;
};
/// Maximal convex segments. `verdicts` as validateNodes gives; `firstVerdict` is where they will stand in the plan's
/// decisions, for evidence.
Partitioning partitionGraph(const Graph& graph, const Target& target, const std::vector<NodeVerdict>& verdicts,
                            std::uint32_t firstVerdict, const DirectiveMap& directives, const PlanOptions& options);

/// Nodes that run as one kernel.
struct Region {
  std::vector<NodeId> nodes;  ///< graph order
  NodeId root;
  std::string kind;
  std::string rule;  ///< the rule that made it; empty for a node on its own
  Bindings bindings;
  std::vector<NodeId> oneType;  ///< nodes that its kernel can only calculate in one type
};
struct Fusion {
  std::vector<Region> regions;     ///< producers before consumers
  std::vector<Decision> refusals;  ///< merges that did not happen, and why
  std::vector<TypeConflict> conflicts;
};
/// The limits on fusion other than those of the graph: directives of the user, and types that one kernel cannot
/// combine. The default has no limits.
struct NodeFacts;
struct FusionLimits {
  const std::vector<NodeFacts>* facts = nullptr;  ///< by NodeId: no kernel calculates in f64 and in narrower floats
  const DirectiveMap* directives = nullptr;       ///< splits, rules that are switched off
  const Directives* list = nullptr;               ///< what the directives' indices are of
  const std::vector<int>* mustStand = nullptr;    ///< by ValueId: the directive that makes it stand in memory, or -1
  const std::vector<DataType>* calculates = nullptr;  ///< by NodeId; Undefined: nothing
  const std::vector<char>* apart = nullptr;           ///< by NodeId: PriceChoices::isApart()
  bool oneTypePerKernel = false;                      ///< no kernel mixes types
  Cause causeOf(int directive) const { return fusescope::causeOf((*list)[static_cast<std::size_t>(directive)]); }
};
/// Merges the accelerated nodes of `scope` (graph order) by all rules; the others are regions of their own.
Fusion fuseNodes(const Graph& graph, const Partitioning& partition, std::span<const NodeId> scope,
                 const FusionLimits& limits = {});
/// The conversions between what stands in memory and what is read. plan.index() must have been called.
std::vector<PlannedCast> planCasts(const Plan& plan);
/// What runs as one kernel and what alone, and the answers to Split and NoFuse directives.
std::vector<Decision> fusionAnswers(const Plan& plan, const std::vector<Region>& regions,
                                    const DirectiveMap& directives);
/// The names that --no-fuse takes.
std::vector<std::string> fusionRuleNames();

}  // namespace fusescope
