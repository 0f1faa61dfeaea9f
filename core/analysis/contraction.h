#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ir/graph.h"

namespace fusescope {

/// A Graph whose nodes are merged into groups step by step, and which stays acyclic between the groups. Keeps a
/// topological order of the groups; a merge looks only at the groups between the first and the last of those merged,
/// so that merges of neighbours are cheap whatever the size of the graph.
class ContractedGraph {
 public:
  /// Every node in a group of its own.
  explicit ContractedGraph(const Graph& graph);

  std::size_t groupOf(NodeId node) const { return m_groupOf[node.index]; }
  const std::vector<NodeId>& nodes(std::size_t group) const { return m_groups[group]; }

  /// A node outside `nodes`' groups that lies on a path from one of these groups to another; nothing if the groups
  /// can be merged without a cycle.
  std::optional<NodeId> pathOutside(std::span<const NodeId> nodes) const;

  /// Merges the groups of `nodes` into one. pathOutside(nodes) must be empty.
  void merge(std::span<const NodeId> nodes);

  /// The groups, producers before consumers; each group's nodes in graph order.
  std::vector<std::vector<NodeId>> ordered() const;

 private:
  std::vector<std::size_t> groupsOf(std::span<const NodeId> nodes) const;  ///< each once, by order
  /// Marks in `reached` the groups at order positions first…last that depend on one of `members`, themselves not.
  std::vector<char> reachedBetween(const std::vector<std::size_t>& members) const;

  const Graph& m_graph;
  std::vector<std::size_t> m_groupOf;         ///< by NodeId
  std::vector<std::vector<NodeId>> m_groups;  ///< emptied when merged into another
  std::vector<std::size_t> m_order;           ///< groups, topological; merged-away groups leave the order
  std::vector<std::size_t> m_position;        ///< by group: index in m_order
  std::vector<std::size_t> m_rank;            ///< by NodeId: index in the graph's order
};

}  // namespace fusescope
