#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "diff/plan_diff.h"
#include "planning/cover_blocks.h"
#include "planning/read_back/read_back_plan.h"
#include "planning/segment_borders.h"
#include "planning/segment_facts.h"

namespace fusescope {

class Graph;

/// The effects of one edit on the plan and the plans of its bodies, as names for people (texts of places). It contains
/// what core/diff finds, for the docks. Numbers count each body as if it ran once.
struct PlanDelta {
  bool comparable = false;               ///< false: there was no plan of this network before
  bool ofAnotherNetwork = false;         ///< the previous plan was of another network, so that the changes are unknown
  std::vector<std::string> fusionsLost;  ///< fused nodes of several nodes that do not exist any more
  std::vector<std::string> fusionsGained;
  std::vector<std::string> castsAdded;  ///< "value: f32 to f16"
  std::vector<std::string> castsRemoved;
  std::vector<std::string> retyped;       ///< "node: f32 to f16": the granted compute type changed
  std::int64_t castBytes = 0;             ///< after minus before
  std::int64_t bytes = 0;                 ///< moved by fused nodes, after minus before
  std::int64_t fusedNodes = 0;            ///< after minus before
  std::int64_t segments = 0;              ///< after minus before
  std::vector<std::uint32_t> newAnswers;  ///< decisions of the new plan that the old one did not have
  bool nothing() const;
};

/// A plan and what is displayed of it, with data that the views look up repeatedly. It is made off the GUI thread, and
/// const after it is published. The facts below are those of `cover`.
struct PlanSnapshot {
  std::shared_ptr<const Plan> plan;    ///< what directives change, and what is predicted
  std::shared_ptr<const Cover> cover;  ///< what is displayed: the plan, or what another compiler made of it
  PlanDelta delta;                     ///< of the plan

  struct NodeFacts {
    std::uint32_t fused = UINT32_MAX;    ///< index in Cover::fusedNodes of the first one that contains it
    std::uint32_t grant = UINT32_MAX;    ///< index in Cover::precisionMap
    std::uint32_t segment = UINT32_MAX;  ///< index in Cover::segments
    std::optional<std::int64_t> flops, bytes;
    bool root = false;  ///< the main node of the fused node that it is drawn in
  };
  std::vector<NodeFacts> nodes;  ///< for each node id
  /// For each node id, the node with the most similar name (ui/document/names_apart.h); invalid: there is none. Plans
  /// of one graph share it.
  std::shared_ptr<const std::vector<NodeId>> twins;
  std::shared_ptr<const ModuleTree> modules;  ///< blocks of the network, or of the body; plans of one model share them
  std::shared_ptr<const CoverBlocks> blocks;  ///< the parts of modules that are drawn and listed
  std::vector<CostRange> ranges;  ///< flops and bytes for each node id; empty if the inputs' extents are fixed
  // Look-up tables, sorted by hash and then by the result. The texts are compared after the look-up.
  using ByHash = std::vector<std::pair<std::uint64_t, std::uint32_t>>;
  ByHash decisionsOf;                               ///< decisions by the kind and name of a subject
  ByHash fusedByName;                               ///< fused nodes
  ByHash fusedByHandle;                             ///< fused nodes, by planning/fused_node_facts.h
  std::vector<std::vector<SegmentBorder>> borders;  ///< by segment id
  std::vector<SegmentFacts> segmentFacts;           ///< by segment id

  struct Body {
    NodeId holder;
    std::string attribute;
    std::shared_ptr<const PlanSnapshot> snapshot;
  };
  std::vector<Body> bodies;                                                     ///< in the order of Cover::bodies
  const PlanSnapshot* body(NodeId holder, const std::string& attribute) const;  ///< null if there is none

  /// This snapshot, or that of a body at any depth.
  struct Level {
    const PlanSnapshot* snapshot = nullptr;
    BodyPath path;
    NodeId holder;  ///< the node of this graph that a selection in the body selects; invalid: this snapshot
  };
  /// Returns this snapshot first, then its bodies, each before the bodies in it.
  std::vector<Level> levels() const;

  const Graph& graph() const { return cover->graph(); }
  /// Returns what is displayed if another compiler made it; otherwise null.
  const ReadBackPlan* made() const { return asReadBack(*cover); }
  /// Returns the plan that the cover is, or that another compiler was asked for. Its decisions are the first ones of
  /// the cover.
  const Plan& requestedPlan() const { return fusescope::requestedPlan(*cover); }
  /// Returns the decisions of the cover that the last edit added.
  const std::vector<std::uint32_t>& newDecisions() const;
  const NodeFacts& facts(NodeId node) const { return nodes[node.index]; }
  /// Returns the most similar name; empty if there is none.
  const std::string& twinName(NodeId node) const;
  const CostRange* rangeOf(NodeId node) const { return ranges.empty() ? nullptr : &ranges[node.index]; }
  const FusedNode* fusedOf(NodeId node) const;  ///< the first one that contains it, in which it is drawn; null: none
  std::vector<const FusedNode*> kernelsOf(NodeId node) const;  ///< all that contain it
  /// Returns the fused node with exactly these nodes; null: none.
  const FusedNode* fusedWithExactly(const std::vector<NodeId>& nodes) const;
  const Segment* segmentOf(NodeId node) const;             ///< null: none
  const Segment* segmentOf(const FusedNode& fused) const;  ///< null: a compiler does not report its segment
  /// Returns the root, after which it is named. Invalid: it has no nodes.
  static NodeId mainNodeOf(const FusedNode& fused);
  /// Returns whether one of its nodes is drawn in it, because it is the first fused node that contains the node.
  bool isDrawn(const FusedNode& fused) const;
  /// Returns whether it is identified by its nodes: it has nodes, and no other fused node has the same.
  bool isIdentifiedByNodes(const FusedNode& fused) const;
  const PrecisionGrant* grantOf(NodeId node) const;
  std::vector<std::uint32_t> decisionsAbout(const Subject& subject) const;
  /// Returns the decisions about what a handle or name refers to; for a fused node with one node also those about the
  /// node.
  std::vector<std::uint32_t> decisionsAbout(const std::string& handle) const;
  const FusedNode* fusedWith(const std::string& handle) const;
  /// Returns the segment with exactly these nodes, or null.
  const Segment* segmentOf(const std::vector<NodeId>& nodes) const;
  /// Returns the index of the module with exactly these nodes, or whose nodes in one segment they are; -1: none.
  std::int32_t moduleOf(const std::vector<NodeId>& nodes) const;
  /// Returns the handle of that module in selections: kModulePrefix and its path, followed by the segment if the module
  /// is in several. Empty: there is no such module.
  std::string moduleHandle(const std::vector<NodeId>& nodes) const;
  /// Returns the nodes that a handle or a name of the cover refers to: those of a fused node, a segment or a module, a
  /// node, or a value's producer.
  std::vector<NodeId> nodesNamed(const std::string& name) const;
  /// What the text of a place in a body refers to. The name in it is one that nodesNamed() accepts.
  struct Inside {
    NodeId holder;  ///< in this plan
    const PlanSnapshot* body = nullptr;
    NetworkPlace place;
    std::vector<NodeId> nodes;
  };
  std::optional<Inside> inside(std::string_view text) const;
  std::int64_t pinCount() const;  ///< directives that ask for a type
};

PlanDelta planDelta(const Plan& before, const Plan& after);
PlanDelta deltaOf(const PlanDiff& diff);  ///< from A to B
/// Makes a snapshot. `before` may be null or of a plan of another model; if its network has other quantised codes, it
/// is compared as in a diff. `made`, for a plan of the same model, is displayed; null: the plan is displayed.
std::shared_ptr<const PlanSnapshot> makeSnapshot(std::shared_ptr<const Plan> plan, const PlanSnapshot* before,
                                                 std::shared_ptr<const ReadBackPlan> made = nullptr);

}  // namespace fusescope
