#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/graph.h"

namespace fusescope {

/// A Graph whose nodes are merged into groups step by step, and which stays acyclic between the groups. Groups are
/// joined smaller into larger, and a question about cycles looks only at what lies between the groups asked about, so
/// that a chain of n merges costs about n steps.
class ContractedGraph {
 public:
  /// Every node of `scope` (graph order) in a group of its own; paths through other nodes are not looked at.
  ContractedGraph(const Graph& graph, std::span<const NodeId> scope);

  bool holds(NodeId node) const { return node.index < m_parent.size() && m_parent[node.index] != kNone; }
  std::size_t groupOf(NodeId node) const;  ///< `node` must be held; the index of one of the group's nodes
  /// In no order.
  const std::vector<NodeId>& nodes(std::size_t group) const { return m_groups[group].nodes; }

  /// A node outside `groups` that lies on a path from one of them to another; nothing if they can be merged without a
  /// cycle.
  std::optional<NodeId> pathOutside(std::span<const std::size_t> groups) const;

  /// Merges them, which must not make a cycle. Returns the group that they are now.
  std::size_t merge(std::span<const std::size_t> groups);

  /// The groups, producers before consumers, else by their first node; each group's nodes in graph order.
  std::vector<std::vector<NodeId>> ordered() const;

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Group {
    std::vector<NodeId> nodes;
    std::vector<std::uint32_t> producers;  ///< nodes that make what it reads, inner ones among them
    std::size_t first = 0, last = 0;       ///< the least and the largest rank of its nodes
  };

  bool isMember(std::size_t group) const { return m_memberMark[group] == m_mark; }
  std::optional<NodeId> backwards(std::size_t from, std::size_t earliest) const;
  NodeId feeder(std::size_t group, std::size_t reader) const;

  const Graph& m_graph;
  mutable std::vector<std::uint32_t> m_parent;  ///< by node index; union-find with path halving
  std::vector<Group> m_groups;                  ///< by node index; empty unless it stands for its group
  std::vector<std::size_t> m_rank;              ///< by node index: position in the graph's order
  std::vector<NodeId> m_scope;
  mutable std::vector<std::uint32_t> m_memberMark, m_seenMark;
  mutable std::uint32_t m_mark = 0;
};

}  // namespace fusescope
