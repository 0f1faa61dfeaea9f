#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <unordered_set>
#include <utility>

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

/// A plan, or that of a body, on one side; null where the other side alone has it.
struct Side {
  const Plan* plan = nullptr;
  std::string prefix;  ///< of names: "HOLDER/"
  std::string body;    ///< CoveringNode::body

  std::size_t count() const { return plan == nullptr ? 0 : plan->fusedNodes.size(); }
};

class CommonCover {
 public:
  std::vector<CompareGroup> of(const Side& a, const Side& b, const CompareGroup& like) {
    cover(a, b, like);
    for (const std::vector<CompareGroup> level = std::exchange(m_groups, {}); const CompareGroup& group : level) {
      m_groups.push_back(group);
      addBodies(a, b, group);
    }
    return std::move(m_groups);
  }

 private:
  /// The smallest common cover of the fused nodes of both sides, bodies apart.
  void cover(const Side& a, const Side& b, const CompareGroup& like) {
    DisjointSets sets(a.count() + b.count());
    std::unordered_map<std::string, std::size_t> firstCover;
    const auto claim = [&](const Side& side, std::size_t offset) {
      for (std::size_t i = 0; i < side.count(); ++i) {
        for (auto& name : coveredBy(*side.plan, side.plan->fusedNodes[i])) {
          const auto [found, isNew] = firstCover.try_emplace(std::move(name), offset + i);
          if (!isNew) sets.unite(found->second, offset + i);
        }
      }
    };
    claim(a, 0);
    claim(b, a.count());
    std::unordered_map<std::size_t, std::size_t> groupOfSet;
    std::unordered_set<std::string> listed;
    const auto collect = [&](const Side& side, std::size_t offset, std::vector<CoveringNode> CompareGroup::*nodes) {
      for (std::size_t i = 0; i < side.count(); ++i) {
        const auto [found, isNew] = groupOfSet.try_emplace(sets.find(offset + i), m_groups.size());
        if (isNew) m_groups.push_back({.holder = like.holder, .attribute = like.attribute});
        CompareGroup& group = m_groups[found->second];
        const FusedNode& fused = side.plan->fusedNodes[i];
        (group.*nodes).push_back({fused.id, side.prefix + fused.name, fused.identity, side.body});
        for (const auto origin : fused.origins) {
          std::string name = side.prefix + side.plan->model->origins[origin.index].name;
          if (listed.insert(name).second) group.origins.push_back(std::move(name));
        }
      }
    };
    collect(a, 0, &CompareGroup::a);
    collect(b, a.count(), &CompareGroup::b);
  }

  /// The bodies of the holders in a group, matched by attribute: a holder is in a fused node of its own.
  void addBodies(const Side& a, const Side& b, const CompareGroup& group) {
    const std::vector<const PlannedBody*> ofA = bodiesOf(a, group.a), ofB = bodiesOf(b, group.b);
    std::vector<std::string> attributes;
    for (const auto* bodies : {&ofA, &ofB})
      for (const PlannedBody* body : *bodies)
        if (std::ranges::find(attributes, body->attribute) == attributes.end()) attributes.push_back(body->attribute);
    for (const std::string& attribute : attributes) {
      const Side insideA = sideOf(a, ofA, attribute), insideB = sideOf(b, ofB, attribute);
      const std::string& prefix = insideA.plan != nullptr ? insideA.prefix : insideB.prefix;
      const CompareGroup like{.holder = prefix.substr(0, prefix.size() - 1), .attribute = attribute};
      std::vector<CompareGroup> inside = CommonCover().of(insideA, insideB, like);
      m_groups.insert(m_groups.end(), std::make_move_iterator(inside.begin()), std::make_move_iterator(inside.end()));
    }
  }

  static std::vector<const PlannedBody*> bodiesOf(const Side& side, const std::vector<CoveringNode>& nodes) {
    std::vector<const PlannedBody*> bodies;
    for (const CoveringNode& node : nodes)
      for (const PlannedBody& body : side.plan->bodies)
        if (body.holder == side.plan->fusedNodes[node.id.index].root) bodies.push_back(&body);
    return bodies;
  }

  static Side sideOf(const Side& around, const std::vector<const PlannedBody*>& bodies, const std::string& attribute) {
    const auto found = std::ranges::find(bodies, attribute, &PlannedBody::attribute);
    if (found == bodies.end()) return {};
    const std::string& holder = around.plan->graph().node((*found)->holder).name;
    return {(*found)->plan.get(), around.prefix + holder + "/", bodyPath(around.body, holder, attribute)};
  }

  std::vector<CompareGroup> m_groups;
};

}  // namespace

std::string bodyPath(const std::string& around, const std::string& holder, const std::string& attribute) {
  return around + (around.empty() ? "" : "/") + holder + "/" + attribute;
}

std::vector<CompareGroup> commonCover(const Plan& a, const Plan& b) {
  return CommonCover().of({.plan = &a}, {.plan = &b}, {});
}

}  // namespace fusescope
