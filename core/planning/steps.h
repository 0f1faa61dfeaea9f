#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"
#include "planning/bindings.h"
#include "planning/cover.h"
#include "planning/directive_map.h"
#include "planning/truncation_plan.h"
#include "planning/types/type_conflict.h"

// The steps of the planner. Each is a pure function of the results of earlier steps; pipeline.cpp lists them. Tables
// are indexed by NodeId or ValueId and have default entries for ids that the graph does not have.

namespace fusescope {

class Graph;
struct Plan;
struct Subgraph;

/// What a truncation does to the values of one body at any depth.
struct TruncatedBody {
  NodeId holder;  ///< the node of the graph that contains the body
  const Subgraph* body = nullptr;
  std::vector<DataType> types;     ///< by ValueId of the body
  std::vector<Decision> narrowed;  ///< added if the holder runs accelerated
};

/// The types of values inside accelerated segments, and the truncations that lead to them.
struct Truncation {
  TruncationPlan plan;
  /// For each ValueId: the node that treats every number as large as the lost element as "no limit", so that a constant
  /// may be narrowed although one element does not fit. Invalid if there is no such node.
  std::vector<NodeId> saturatesAt;
  std::vector<DataType> types;        ///< by ValueId: the type after truncation
  std::vector<char> refused;          ///< by ValueId: a constant that would lose numbers, or whose numbers are unknown
  std::vector<TruncatedBody> bodies;  ///< in graph order
  std::unordered_map<const Subgraph*, std::size_t> bodyIndex;
  /// Why a constant is not narrowed, by its name and the node whose bodies contain it (invalid for a constant of the
  /// graph).
  std::map<std::pair<NodeId, std::string>, std::string> whyRefused;
  std::vector<Decision> decisions;

  DataType typeInside(const Subgraph& body, ValueId value) const {
    return bodies[bodyIndex.at(&body)].types[value.index];
  }
};
/// Where the inputs of a graph come from. Open: they are the network's. FromHolder: they are those of a body, whose
/// holder determines their types.
enum class GraphInputs { Open, FromHolder };
/// Truncates the types that `target` lacks and `modes` include, as if every node ran accelerated. The result of a node
/// is not narrowed if a mode keeps one of its operands wide.
Truncation planTruncation(const Graph& graph, const Target& target, TruncateModes modes,
                          GraphInputs inputs = GraphInputs::Open);
/// Returns whether `mode` narrows `type`.
bool narrows(TruncateMode mode, DataType type);
/// Returns the type to which `mode` would narrow `type` for `target`: F64 becomes F32, I64 becomes I32; others are
/// unchanged.
DataType truncatedType(const Target& target, TruncateMode mode, DataType type);
/// Reduces `truncation` to what accelerated segments actually read or produce, and adds its decisions.
void settleTruncation(const Graph& graph, const Target& target, const std::vector<char>& accelerated,
                      const DirectiveMap& directives, const PlanOptions& options, Truncation& truncation);

/// The target's verdict on a node under the plan's truncation.
struct NodeVerdict : TargetVerdict {
  std::optional<TruncateMode> truncation{};  ///< the truncation that would make the target accept the node
};
/// Returns the verdict on each node, in graph order. It is about the types after truncation.
std::vector<NodeVerdict> validateNodes(const Graph& graph, const Target& target, const DirectiveMap& directives,
                                       const Truncation& truncation);

/// An edge between two nodes that cannot be in one segment: a path leaves the segment through `through`, which falls
/// back, and returns, or a split after `through` lies on a path between them.
struct SeparatedEdge {
  NodeId producer, consumer, through;
};

struct Partitioning {
  std::vector<Segment> segments;
  std::vector<SegmentId> segmentOf;  ///< by NodeId
  std::vector<NodeId> unsupported;   ///< nodes that fall back because the target cannot run them
  /// Supported nodes that fall back, with the number of nodes that their segment would have.
  std::map<NodeId, int> tooSmall;
  std::vector<SeparatedEdge> separatedEdges;
  std::vector<Decision> decisions;
};
/// What a split keeps apart: kernels, or also segments, of which one then ends after the node.
enum class SplitReach { Kernels, Segments };
/// Finds the maximal convex segments. `verdicts` is the result of validateNodes(); `firstVerdict` is the index that the
/// first of them will have in the plan's decisions, for use as evidence.
Partitioning partitionGraph(const Graph& graph, const Target& target, const std::vector<NodeVerdict>& verdicts,
                            std::uint32_t firstVerdict, const DirectiveMap& directives, const PlanOptions& options,
                            SplitReach splits = SplitReach::Kernels);

/// A set of nodes that one kernel can run.
struct Region {
  std::vector<NodeId> nodes;  ///< graph order
  NodeId root;
  std::string kind;
  std::string rule;  ///< the rule that made it; empty for a single node
  Bindings bindings;
  std::vector<NodeId> oneType;  ///< nodes that the kernel can calculate only in one common type
};
struct Fusion {
  std::vector<Region> regions;     ///< producers before consumers
  std::vector<Decision> refusals;  ///< the merges that did not happen, with the reasons
  std::vector<TypeConflict> conflicts;
};
struct NodeFacts;
/// The limits on fusion other than those of the graph: directives of the user, and types that one kernel cannot
/// combine. The default has no limits.
struct FusionLimits {
  /// By NodeId; a kernel cannot calculate in f64 and in narrower floats.
  const std::vector<NodeFacts>* facts = nullptr;
  const DirectiveMap* directives = nullptr;  ///< splits, and rules that are switched off
  const Directives* list = nullptr;          ///< the list into which indices of directives point
  const std::vector<int>* requiredInMemory =
      nullptr;  ///< by ValueId: the directive that requires it to be in memory, or -1
  const std::vector<DataType>* calculates = nullptr;  ///< by NodeId; Undefined if it calculates no floats
  const std::vector<char>* separate = nullptr;        ///< by NodeId: PriceChoices::isSeparate()
  bool oneTypePerKernel = false;                      ///< a kernel cannot mix types
  Cause causeOf(int directive) const { return fusescope::causeOf((*list)[static_cast<std::size_t>(directive)]); }
};
/// Merges the accelerated nodes of `scope` (in graph order) by all rules. Every other node becomes a region of its own.
Fusion fuseNodes(const Graph& graph, const Partitioning& partition, std::span<const NodeId> scope,
                 const FusionLimits& limits = {});
/// Returns the conversions between the stored types of values and the types in which they are read. plan.index() must
/// have been called.
std::vector<PlannedCast> planCasts(const Plan& plan);
/// Returns decisions that say which nodes run as one kernel and which alone, and the answers to Split and NoFuse
/// directives.
std::vector<Decision> fusionAnswers(const Plan& plan, const std::vector<Region>& regions,
                                    const DirectiveMap& directives);
/// Returns the names that --no-fuse accepts.
std::vector<std::string> fusionRuleNames();

}  // namespace fusescope
