#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/ids.h"

namespace fusescope {

class Graph;

/// A Graph whose nodes are merged into groups step by step; between the groups it remains acyclic. The smaller group is
/// merged into the larger one, and a test for cycles visits only nodes between the groups in question, so that a chain
/// of n merges takes about n steps.
class ContractedGraph {
 public:
  /// Starts with each node of `scope` (in graph order) in a group of its own. Paths through other nodes are ignored.
  ContractedGraph(const Graph& graph, std::span<const NodeId> scope);

  bool holds(NodeId node) const { return node.index < m_parent.size() && m_parent[node.index] != kNone; }
  /// `node` must be in the scope; the result is the index of one of the group's nodes.
  std::size_t groupOf(NodeId node) const;
  /// Returns the nodes of a group, in no particular order.
  const std::vector<NodeId>& nodes(std::size_t group) const { return m_groups[group].nodes; }

  /// Returns a node outside `groups` on a path from one of them to another, or nothing if the groups can be merged
  /// without a cycle.
  std::optional<NodeId> pathOutside(std::span<const std::size_t> groups) const;

  /// Merges the groups, which must not make a cycle, and returns the index of the merged group.
  std::size_t merge(std::span<const std::size_t> groups);

  /// Returns the groups, producers before consumers; independent groups are ordered by their first node. The nodes of a
  /// group are in graph order.
  std::vector<std::vector<NodeId>> ordered() const;

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Group {
    std::vector<NodeId> nodes;
    std::vector<std::uint32_t> producers;  ///< nodes whose results the group reads, including nodes inside the group
    std::size_t first = 0, last = 0;       ///< the smallest and the largest rank of its nodes
  };

  bool isMember(std::size_t group) const { return m_memberMark[group] == m_mark; }
  std::optional<NodeId> backwards(std::size_t from, std::size_t earliest) const;
  NodeId feeder(std::size_t group, std::size_t reader) const;

  const Graph& m_graph;
  mutable std::vector<std::uint32_t> m_parent;  ///< by node index; union-find with path halving
  std::vector<Group> m_groups;                  ///< by node index; empty unless the node represents its group
  std::vector<std::size_t> m_rank;              ///< by node index: position in the graph's order
  std::vector<NodeId> m_scope;
  mutable std::vector<std::uint32_t> m_memberMark, m_seenMark;
  mutable std::uint32_t m_mark = 0;
};

}  // namespace fusescope
