#include "analysis/contraction.h"

#include <algorithm>

#include "analysis/users.h"

namespace fusescope {

namespace {
constexpr std::size_t kRemoved = SIZE_MAX;
}

ContractedGraph::ContractedGraph(const Graph& graph)
    : m_graph(graph), m_groupOf(graph.nodeIdLimit(), kRemoved), m_rank(graph.nodeIdLimit(), 0) {
  for (NodeId id : graph.order()) {
    const std::size_t group = m_groups.size();
    m_groupOf[id.index] = group;
    m_rank[id.index] = group;
    m_groups.push_back({id});
    m_order.push_back(group);
    m_position.push_back(group);
  }
}

std::vector<std::size_t> ContractedGraph::groupsOf(std::span<const NodeId> nodes) const {
  std::vector<std::size_t> groups;
  for (NodeId id : nodes) groups.push_back(groupOf(id));
  std::sort(groups.begin(), groups.end(), [&](std::size_t a, std::size_t b) { return m_position[a] < m_position[b]; });
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  return groups;
}

// Index 0 of the result is the order position of members.front(). Walking the order once is enough: it is topological.
std::vector<char> ContractedGraph::reachedBetween(const std::vector<std::size_t>& members) const {
  const std::size_t first = m_position[members.front()];
  const std::size_t last = m_position[members.back()];
  std::vector<char> reached(last - first + 1, 0);
  std::vector<char> isMember(last - first + 1, 0);
  for (std::size_t member : members) isMember[m_position[member] - first] = 1;
  for (std::size_t at = first; at <= last; ++at) {
    if (m_order[at] == kRemoved || (!isMember[at - first] && !reached[at - first])) continue;
    for (NodeId id : m_groups[m_order[at]]) {
      for (ValueId output : m_graph.node(id).outputs) {
        if (!output.valid()) continue;
        for (NodeId consumer : m_graph.value(output).consumers) {
          const std::size_t position = m_position[groupOf(consumer)];
          if (position > at && position <= last) reached[position - first] = 1;
        }
      }
    }
  }
  return reached;
}

std::optional<NodeId> ContractedGraph::pathOutside(std::span<const NodeId> nodes) const {
  const std::vector<std::size_t> members = groupsOf(nodes);
  if (members.size() < 2) return std::nullopt;
  const std::size_t first = m_position[members.front()];
  const std::vector<char> reached = reachedBetween(members);
  for (std::size_t offset = 0; offset < reached.size(); ++offset) {
    const std::size_t group = m_order[first + offset];
    const bool outside = std::find(members.begin(), members.end(), group) == members.end();
    if (group == kRemoved || !reached[offset] || !outside) continue;
    for (NodeId id : m_groups[group]) {
      for (ValueId output : m_graph.node(id).outputs) {
        if (!output.valid()) continue;
        for (NodeId consumer : m_graph.value(output).consumers) {
          if (std::find(members.begin(), members.end(), groupOf(consumer)) != members.end()) return id;
        }
      }
    }
  }
  return std::nullopt;
}

void ContractedGraph::merge(std::span<const NodeId> nodes) {
  const std::vector<std::size_t> members = groupsOf(nodes);
  if (members.size() < 2) return;
  const std::size_t first = m_position[members.front()];
  const std::size_t last = m_position[members.back()];
  const std::vector<char> reached = reachedBetween(members);
  const std::size_t kept = members.front();
  std::vector<std::size_t> before, after;
  for (std::size_t at = first; at <= last; ++at) {
    const std::size_t group = m_order[at];
    if (group == kRemoved || std::find(members.begin(), members.end(), group) != members.end()) continue;
    (reached[at - first] ? after : before).push_back(group);
  }
  for (std::size_t i = 1; i < members.size(); ++i) {
    std::vector<NodeId>& gone = m_groups[members[i]];
    for (NodeId id : gone) m_groupOf[id.index] = kept;
    m_groups[kept].insert(m_groups[kept].end(), gone.begin(), gone.end());
    gone.clear();
  }
  std::sort(m_groups[kept].begin(), m_groups[kept].end(),
            [&](NodeId a, NodeId b) { return m_rank[a.index] < m_rank[b.index]; });
  std::vector<std::size_t> region = std::move(before);
  region.push_back(kept);
  region.insert(region.end(), after.begin(), after.end());
  region.resize(last - first + 1, kRemoved);
  for (std::size_t i = 0; i < region.size(); ++i) {
    m_order[first + i] = region[i];
    if (region[i] != kRemoved) m_position[region[i]] = first + i;
  }
}

std::vector<std::vector<NodeId>> ContractedGraph::ordered() const {
  std::vector<std::vector<NodeId>> groups;
  for (std::size_t group : m_order) {
    if (group != kRemoved) groups.push_back(m_groups[group]);
  }
  return groups;
}

}  // namespace fusescope
