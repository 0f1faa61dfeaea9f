#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "planning/plan.h"

// The steps of the planner, each a pure function of what the steps before it found. pipeline.cpp is the recipe.
// Tables are indexed by NodeId or ValueId; ids that a graph does not hold have default entries.

namespace fusescope {

/// Which directives speak of each node, with patterns matched. An index is into PlanOptions::directives, -1: none.
struct DirectiveMap {
  struct NoFuse {
    int directive = -1;
    std::string rule;
    std::vector<char> nodes;  ///< by NodeId
  };
  std::vector<int> pin, outputType, fallback, split;  ///< by NodeId; the last directive that matches
  std::vector<NoFuse> noFuse;
  TruncateMode truncate = TruncateMode::Long;
  int truncateDirective = -1;
  std::size_t minSegment = 1;
  int minSegmentDirective = -1;
  std::vector<Decision> decisions;  ///< precision.overridden, tactic.requested
};

/// Matches every pattern. Errors: a pattern that matches nothing, an unknown fusion rule, a duplicate id.
Result<DirectiveMap> resolveDirectives(const Model& model, const Target& target, const Directives& directives);
/// How a directive is named in Decision::by: "pin:3".
std::string directiveName(const Directive& directive);

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
  std::vector<NodeId> saturatesAt;    ///< by ValueId: who takes what a narrowed constant loses as its end; else invalid
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
/// Why a constant stays wide, by the decision that refused it: "holds 1e300, which does not survive as f32".
std::string whyNotTruncated(const Decision& refusal);
/// Truncates whatever `target` lacks and `mode` covers, as if every node ran accelerated.
Truncation planTruncation(const Graph& graph, const Target& target, TruncateMode mode);
/// The types that `mode` would narrow for `target`: F64 to F32, I64 to I32; others stay.
DataType truncatedType(const Target& target, TruncateMode mode, DataType type);
/// Keeps of `truncation` what accelerated segments really read or produce, and adds its decisions.
void settleTruncation(const Graph& graph, const Target& target, const std::vector<char>& accelerated,
                      const DirectiveMap& directives, const PlanOptions& options, Truncation& truncation);

/// One validate.* decision per node, by position in graph order, on the types after truncation. A refusal that
/// another truncation mode would lift is validate.needs_truncation.
std::vector<Decision> validateNodes(const Graph& graph, const Target& target, const DirectiveMap& directives,
                                    const Truncation& truncation);

struct Partitioning {
  std::vector<Segment> segments;
  std::vector<SegmentId> segmentOf;  ///< by NodeId
  std::vector<Decision> decisions;
};
/// Maximal convex segments. `verdicts` as validateNodes gives; `firstVerdict` is where they will stand in the plan's
/// decisions, for evidence.
Partitioning partitionGraph(const Graph& graph, const Target& target, const std::vector<Decision>& verdicts,
                            std::uint32_t firstVerdict, const DirectiveMap& directives, const PlanOptions& options);

/// What each node computes in, and what it leaves in memory where that is pinned.
struct PrecisionMap {
  std::vector<PrecisionGrant> grants;  ///< graph order
  std::vector<DataType> compute;       ///< by NodeId
  std::vector<char> isFloat;           ///< by NodeId: computes floats, so that precision applies
  std::vector<DataType> outputType;    ///< by NodeId: pinned type of the outputs, else Undefined
  std::vector<Decision> decisions;
};
/// `measuredFaster` (by NodeId; empty: nothing measured) is the type that the cost model knows to be fastest.
PrecisionMap assignPrecision(const Graph& graph, const Target& target, const Partitioning& partition,
                             const Truncation& truncation, const DirectiveMap& directives, const PlanOptions& options,
                             const std::vector<DataType>& measuredFaster);

/// Nodes that will run as one kernel.
struct FusionGroup {
  std::vector<NodeId> nodes;  ///< graph order
  NodeId root;
  std::string kind;
  std::string rule;  ///< the rule that made it; empty for a node on its own
};
struct Fusion {
  std::vector<FusionGroup> groups;  ///< producers before consumers
  std::vector<Decision> decisions;
};
Fusion fuseNodes(const Graph& graph, const Partitioning& partition, const PrecisionMap& precision,
                 const DirectiveMap& directives, const PlanOptions& options);
/// The names that --no-fuse takes.
std::vector<std::string> fusionRuleNames();

/// Turns groups into fused nodes: names, inputs, outputs, inner edges, types, flops and bytes.
std::vector<FusedNode> describeFusedNodes(const Model& model, const Partitioning& partition,
                                          const Truncation& truncation, const PrecisionMap& precision,
                                          const Fusion& fusion);

/// The conversions between what stands in memory and what is read. plan.index() must have been called.
std::vector<PlannedCast> planCasts(const Plan& plan);
/// The type at which `node` reads `value`, which it must have among its inputs.
DataType operandType(const Plan& plan, const FusedNode& node, ValueId value);

/// Whether some pin or pinned output type is in force.
bool anyPinGranted(const Plan& plan);
/// What each pin costs against `baseline`, the same plan without pins: one precision.pin_split for each pin that tore a
/// fused node apart or added casts.
std::vector<Decision> pinCosts(const Plan& plan, const Plan& baseline);

}  // namespace fusescope
