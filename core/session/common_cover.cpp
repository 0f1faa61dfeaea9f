#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "session/session.h"

namespace fusescope {
namespace {

/// Sets that grow together; find() and unite() are all but constant.
class DisjointSets {
 public:
  explicit DisjointSets(std::size_t count) : m_parent(count) { std::iota(m_parent.begin(), m_parent.end(), 0U); }
  std::size_t find(std::size_t i) {
    while (m_parent[i] != i) i = m_parent[i] = m_parent[m_parent[i]];
    return i;
  }
  void unite(std::size_t i, std::size_t j) {
    const auto a = find(i), b = find(j);
    m_parent[std::max(a, b)] = std::min(a, b);  // the earliest stands for the set
  }

 private:
  std::vector<std::size_t> m_parent;
};

/// What a fused node covers, by name. One whose nodes come from nowhere in the file is matched by its own nodes' names.
std::vector<std::string> coveredBy(const Plan& plan, const FusedNode& fused) {
  std::vector<std::string> names;
  for (const auto origin : fused.origins) names.push_back(plan.model->origins[origin.index].name);
  if (!names.empty()) return names;
  for (const auto node : fused.nodes) names.push_back("node " + plan.graph().node(node).name);
  return names;
}

}  // namespace

std::vector<CompareGroup> commonCover(const Plan& a, const Plan& b) {
  const auto countA = a.fusedNodes.size();
  DisjointSets sets(countA + b.fusedNodes.size());
  std::unordered_map<std::string, std::size_t> firstCover;
  const auto claim = [&](const Plan& plan, std::size_t offset) {
    for (std::size_t i = 0; i < plan.fusedNodes.size(); ++i) {
      for (auto& name : coveredBy(plan, plan.fusedNodes[i])) {
        const auto [found, isNew] = firstCover.try_emplace(std::move(name), offset + i);
        if (!isNew) sets.unite(found->second, offset + i);
      }
    }
  };
  claim(a, 0);
  claim(b, countA);

  std::vector<CompareGroup> groups;
  std::unordered_map<std::size_t, std::size_t> groupOfSet;
  std::unordered_map<std::string, bool> listed;
  const auto collect = [&](const Plan& plan, std::size_t offset, std::vector<CoveringNode> CompareGroup::*side) {
    for (std::size_t i = 0; i < plan.fusedNodes.size(); ++i) {
      const auto [found, isNew] = groupOfSet.try_emplace(sets.find(offset + i), groups.size());
      if (isNew) groups.emplace_back();
      auto& group = groups[found->second];
      const FusedNode& fused = plan.fusedNodes[i];
      (group.*side).push_back({.id = fused.id, .name = fused.name, .identity = fused.identity});
      for (const auto origin : fused.origins) {
        const auto& name = plan.model->origins[origin.index].name;
        if (listed.try_emplace(name, true).second) group.origins.push_back(name);
      }
    }
  };
  collect(a, 0, &CompareGroup::a);
  collect(b, countA, &CompareGroup::b);
  return groups;
}

}  // namespace fusescope
