#include "analysis/contraction.h"

#include <algorithm>
#include <queue>

#include "analysis/users.h"
#include "base/sort_distinct.h"
#include "ir/graph.h"

namespace fusescope {

ContractedGraph::ContractedGraph(const Graph& graph, std::span<const NodeId> scope)
    : m_graph(graph),
      m_parent(graph.nodeIdLimit(), kNone),
      m_groups(graph.nodeIdLimit()),
      m_rank(graph.nodeIdLimit(), 0),
      m_scope(scope.begin(), scope.end()),
      m_memberMark(graph.nodeIdLimit(), 0),
      m_seenMark(graph.nodeIdLimit(), 0) {
  for (std::size_t i = 0; i < m_scope.size(); ++i) {
    m_parent[m_scope[i].index] = static_cast<std::uint32_t>(m_scope[i].index);
    m_rank[m_scope[i].index] = i;
  }
  for (const NodeId id : m_scope) {
    Group& group = m_groups[id.index];
    group.nodes = {id};
    group.first = group.last = m_rank[id.index];
    for (const ValueId value : valuesRead(graph.node(id))) {
      const NodeId producer = graph.value(value).producer;
      if (producer.valid() && holds(producer)) group.producers.push_back(static_cast<std::uint32_t>(producer.index));
    }
  }
}

std::size_t ContractedGraph::groupOf(NodeId node) const {
  auto at = static_cast<std::uint32_t>(node.index);
  while (m_parent[at] != at) {
    m_parent[at] = m_parent[m_parent[at]];
    at = m_parent[at];
  }
  return at;
}

/// Returns the node of `group` whose result `reader` reads.
NodeId ContractedGraph::feeder(std::size_t group, std::size_t reader) const {
  for (const NodeId id : m_groups[reader].nodes) {
    for (const ValueId value : valuesRead(m_graph.node(id))) {
      const NodeId producer = m_graph.value(value).producer;
      if (producer.valid() && holds(producer) && groupOf(producer) == group) return producer;
    }
  }
  return m_groups[group].nodes.front();
}

/// Walks from the operands of the member `from` towards the inputs, outside the members and not before rank `earliest`.
/// Returns the node that `from` reads on a path that ends in a member.
std::optional<NodeId> ContractedGraph::backwards(std::size_t from, std::size_t earliest) const {
  for (const std::uint32_t direct : m_groups[from].producers) {
    const std::size_t start = groupOf(NodeId(direct));
    if (isMember(start) || m_seenMark[start] == m_mark) continue;
    std::vector<std::size_t> pending{start};
    m_seenMark[start] = m_mark;
    while (!pending.empty()) {
      const std::size_t at = pending.back();
      pending.pop_back();
      for (const std::uint32_t before : m_groups[at].producers) {
        const std::size_t next = groupOf(NodeId(before));
        if (isMember(next)) return feeder(start, from);
        if (m_seenMark[next] == m_mark || m_groups[next].last < earliest) continue;
        m_seenMark[next] = m_mark;
        pending.push_back(next);
      }
    }
  }
  return std::nullopt;
}

// A path between two members enters one of them from outside. The largest member need not be searched if another member
// reads its results, because a path into it would already have closed a cycle.
std::optional<NodeId> ContractedGraph::pathOutside(std::span<const std::size_t> groups) const {
  if (groups.size() < 2) return std::nullopt;
  ++m_mark;
  std::size_t earliest = SIZE_MAX;
  std::size_t largest = groups.front();
  for (const std::size_t group : groups) {
    m_memberMark[group] = m_mark;
    earliest = std::min(earliest, m_groups[group].first);
    if (m_groups[group].nodes.size() > m_groups[largest].nodes.size()) largest = group;
  }
  bool largestIsRead = groups.size() == 2;
  if (largestIsRead) {
    const std::size_t other = groups[0] == largest ? groups[1] : groups[0];
    largestIsRead =
        std::ranges::any_of(m_groups[other].producers, [&](std::uint32_t p) { return groupOf(NodeId(p)) == largest; });
  }
  for (const std::size_t group : groups) {
    if (group == largest && largestIsRead) continue;
    if (const auto through = backwards(group, earliest)) return through;
  }
  return std::nullopt;
}

std::size_t ContractedGraph::merge(std::span<const std::size_t> groups) {
  std::size_t kept = groups.front();
  for (const std::size_t group : groups)
    if (m_groups[group].nodes.size() > m_groups[kept].nodes.size()) kept = group;
  Group& into = m_groups[kept];
  for (const std::size_t group : groups) {
    if (group == kept) continue;
    Group& from = m_groups[group];
    m_parent[group] = static_cast<std::uint32_t>(kept);
    into.nodes.insert(into.nodes.end(), from.nodes.begin(), from.nodes.end());
    into.producers.insert(into.producers.end(), from.producers.begin(), from.producers.end());
    into.first = std::min(into.first, from.first);
    into.last = std::max(into.last, from.last);
    from = Group();
  }
  return kept;
}

std::vector<std::vector<NodeId>> ContractedGraph::ordered() const {
  std::vector<std::size_t> waitsFor(m_groups.size(), 0);
  std::vector<std::vector<std::size_t>> readers(m_groups.size());
  using Entry = std::pair<std::size_t, std::size_t>;  // rank of its first node, group
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  for (const NodeId id : m_scope) {
    if (groupOf(id) != id.index) continue;
    std::vector<std::size_t> producers;
    for (const std::uint32_t p : m_groups[id.index].producers)
      if (const std::size_t producer = groupOf(NodeId(p)); producer != id.index) producers.push_back(producer);
    sortDistinct(producers);
    waitsFor[id.index] = producers.size();
    for (const std::size_t producer : producers) readers[producer].push_back(id.index);
    if (producers.empty()) ready.emplace(m_groups[id.index].first, id.index);
  }
  std::vector<std::vector<NodeId>> groups;
  while (!ready.empty()) {
    const std::size_t group = ready.top().second;
    ready.pop();
    groups.push_back(m_groups[group].nodes);
    std::sort(groups.back().begin(), groups.back().end(),
              [&](NodeId a, NodeId b) { return m_rank[a.index] < m_rank[b.index]; });
    for (const std::size_t reader : readers[group])
      if (--waitsFor[reader] == 0) ready.emplace(m_groups[reader].first, reader);
  }
  return groups;
}

}  // namespace fusescope
