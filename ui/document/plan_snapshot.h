#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "planning/plan.h"

namespace fusescope {

/// What one edit did to the plan. Names, as two plans of one model share them.
struct PlanDelta {
  bool comparable = false;               ///< false: there was no plan of this model before
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

/// A plan with what the views look up in it again and again. Made off the GUI thread, const once published.
struct PlanSnapshot {
  std::shared_ptr<const Plan> plan;
  PlanDelta delta;

  struct NodeFacts {
    std::uint32_t fused = UINT32_MAX;  ///< index into Plan::fusedNodes
    std::uint32_t grant = UINT32_MAX;  ///< index into Plan::precisionMap
    std::optional<std::int64_t> flops, bytes;
    bool root = false;
  };
  std::vector<NodeFacts> nodes;                                             ///< by node id
  std::unordered_map<std::string, std::vector<std::uint32_t>> decisionsOf;  ///< by a subject's name
  std::unordered_map<std::string, std::uint32_t> fusedByName;

  const Graph& graph() const { return plan->graph(); }
  const NodeFacts& facts(NodeId node) const { return nodes[node.index]; }
  const FusedNode* fusedOf(NodeId node) const;
  const PrecisionGrant* grantOf(NodeId node) const;
  const std::vector<std::uint32_t>& decisionsAbout(const std::string& name) const;
  /// The nodes that a name of the plan stands for: a fused node's, a segment's, a node, a value's producer.
  std::vector<NodeId> nodesNamed(const std::string& name) const;
  std::int64_t pinCount() const;  ///< directives that ask for a type
};

PlanDelta planDelta(const Plan& before, const Plan& after);
/// `before` may be null or a plan of another model.
std::shared_ptr<const PlanSnapshot> makeSnapshot(std::shared_ptr<const Plan> plan, const Plan* before);

}  // namespace fusescope
