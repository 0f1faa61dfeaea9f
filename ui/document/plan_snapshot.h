#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "diff/plan_diff.h"
#include "planning/cover_blocks.h"
#include "planning/read_back_plan.h"
#include "planning/segment_borders.h"

namespace fusescope {

/// What one edit did to the plan and the plans of its bodies, in names for people, which are texts of places.
/// What core/diff finds, as the docks show it. Numbers take each body as if it ran once.
struct PlanDelta {
  bool comparable = false;               ///< false: there was no plan of this network before
  bool ofAnotherNetwork = false;         ///< the plan before was: what changed cannot be told
  std::vector<std::string> fusionsLost;  ///< fused nodes of several nodes that are no more
  std::vector<std::string> fusionsGained;
  std::vector<std::string> castsAdded;  ///< "value: f32 to f16"
  std::vector<std::string> castsRemoved;
  std::vector<std::string> retyped;       ///< "node: f32 to f16": the granted compute type changed
  std::int64_t castBytes = 0;             ///< after minus before
  std::int64_t bytes = 0;                 ///< moved by fused nodes, after minus before
  std::int64_t fusedNodes = 0;            ///< after minus before
  std::int64_t segments = 0;              ///< after minus before
  std::vector<std::uint32_t> newAnswers;  ///< decisions of the new plan that the old one had not
  bool nothing() const;
};

/// A plan, and what is shown of it, with what the views look up there again and again. Made off the GUI thread, const
/// once published. Facts below are of `cover`.
struct PlanSnapshot {
  std::shared_ptr<const Plan> plan;    ///< what directives edit, and what is predicted
  std::shared_ptr<const Cover> cover;  ///< what is shown: the plan, or what another compiler made of it
  PlanDelta delta;                     ///< of the plan

  struct NodeFacts {
    std::uint32_t fused = UINT32_MAX;    ///< index into Cover::fusedNodes: the first that holds it
    std::uint32_t grant = UINT32_MAX;    ///< index into Cover::precisionMap
    std::uint32_t segment = UINT32_MAX;  ///< index into Cover::segments
    std::optional<std::int64_t> flops, bytes;
    bool root = false;  ///< the main node of the fused node that it is drawn in
  };
  std::vector<NodeFacts> nodes;  ///< by node id
  /// By node id: the node whose name is much like its own (ui/document/names_apart.h); invalid: there is no other.
  /// Plans of one graph share it.
  std::shared_ptr<const std::vector<NodeId>> twins;
  std::shared_ptr<const ModuleTree> modules;  ///< blocks of the network, or of the body; plans of one model share them
  std::shared_ptr<const CoverBlocks> blocks;  ///< what of the modules is drawn and listed
  std::vector<CostRange> ranges;  ///< by node id, of flops and bytes; empty where the inputs' extents are fixed
  // What has a hash: sorted by that, then by what is found. Texts are compared where they stand.
  using ByHash = std::vector<std::pair<std::uint64_t, std::uint32_t>>;
  ByHash decisionsOf;                               ///< decisions, by the kind and name of a subject
  ByHash fusedByName;                               ///< fused nodes
  ByHash fusedByHandle;                             ///< fused nodes, by planning/fused_node_facts.h
  std::vector<std::vector<SegmentBorder>> borders;  ///< by segment id

  struct Body {
    NodeId holder;
    std::string attribute;
    std::shared_ptr<const PlanSnapshot> snapshot;
  };
  std::vector<Body> bodies;                                                     ///< as Cover::bodies
  const PlanSnapshot* body(NodeId holder, const std::string& attribute) const;  ///< null if there is none

  /// This snapshot, or that of a body at whatever depth.
  struct Level {
    const PlanSnapshot* snapshot = nullptr;
    BodyPath path;
    NodeId holder;  ///< in this graph, the node that a selection in the body selects; invalid: this snapshot
  };
  /// This snapshot first, then its bodies, each before those in it.
  std::vector<Level> levels() const;

  const Graph& graph() const { return cover->graph(); }
  /// What is shown, if another compiler made it; else null.
  const ReadBackPlan* made() const { return asReadBack(*cover); }
  /// The plan that the cover is, or that another compiler was asked for: its decisions are the first of the cover's.
  const Plan& asked() const { return askedPlan(*cover); }
  /// Decisions of the cover that the last edit brought.
  const std::vector<std::uint32_t>& newDecisions() const;
  const NodeFacts& facts(NodeId node) const { return nodes[node.index]; }
  /// The name of the twin of `node`; empty: it has none.
  const std::string& twinName(NodeId node) const;
  const CostRange* rangeOf(NodeId node) const { return ranges.empty() ? nullptr : &ranges[node.index]; }
  const FusedNode* fusedOf(NodeId node) const;  ///< the first that holds it, which it is drawn in; null: none does
  std::vector<const FusedNode*> kernelsOf(NodeId node) const;  ///< all that hold it
  /// The fused node that runs just these nodes; null: none does.
  const FusedNode* fusedOfJust(const std::vector<NodeId>& nodes) const;
  const Segment* segmentOf(NodeId node) const;             ///< null: it is in none
  const Segment* segmentOf(const FusedNode& fused) const;  ///< null: a compiler does not tell which it is of
  /// The node that it is called by: its root. Invalid: it has no nodes.
  static NodeId mainNodeOf(const FusedNode& fused);
  /// Whether one of its nodes is drawn in it: it is the first that holds that.
  bool isDrawn(const FusedNode& fused) const;
  /// Whether its nodes alone tell which it is: it has some, and no other one has the same.
  bool isToldByNodes(const FusedNode& fused) const;
  const PrecisionGrant* grantOf(NodeId node) const;
  std::vector<std::uint32_t> decisionsAbout(const Subject& subject) const;
  /// About whatever a handle or name stands for: of a fused node of one node also those about the node.
  std::vector<std::uint32_t> decisionsAbout(const std::string& handle) const;
  const FusedNode* fusedWith(const std::string& handle) const;
  /// The segment that is made of just these nodes, or null.
  const Segment* segmentOf(const std::vector<NodeId>& nodes) const;
  /// The module that has just these nodes, or whose nodes in one segment they are: its index; -1: none.
  std::int32_t moduleOf(const std::vector<NodeId>& nodes) const;
  /// What a selection calls that module: kModulePrefix and its path, behind it the segment where it is in several.
  /// Empty: it is none.
  std::string moduleHandle(const std::vector<NodeId>& nodes) const;
  /// The nodes that a handle or a name of the cover stands for: a fused node's, a segment's, a module's, a node, a
  /// value's producer.
  std::vector<NodeId> nodesNamed(const std::string& name) const;
  /// What the text of a place in a body stands for, its name as nodesNamed() takes it. Nothing if there is no such body
  /// or name.
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
/// `before` may be null or of a plan of another model; one that other codes were put into is compared as diffs are.
/// `made`, of a plan of the same model, is shown; null: the plan
/// is.
std::shared_ptr<const PlanSnapshot> makeSnapshot(std::shared_ptr<const Plan> plan, const PlanSnapshot* before,
                                                 std::shared_ptr<const ReadBackPlan> made = nullptr);

}  // namespace fusescope
