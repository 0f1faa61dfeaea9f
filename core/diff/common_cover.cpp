#include "diff/common_cover.h"

#include <algorithm>
#include <unordered_set>

namespace fusescope {

namespace {

class CommonCover {
 public:
  explicit CommonCover(const std::vector<PlanLevel>& levels) : m_levels(levels) {}

  std::vector<CoverGroup> run() {
    cover(0);
    return std::move(m_groups);
  }

 private:
  void cover(std::size_t place) {
    const PlanLevel& level = m_levels[place];
    for (const SetGroup& group : fusedGroups(level)) {
      m_groups.push_back(groupOf(level, group));
      for (std::size_t inner = place + 1; inner < m_levels.size(); ++inner)
        if (m_levels[inner].around == static_cast<int>(place) && holds(level, group, m_levels[inner])) cover(inner);
    }
  }

  /// Whether the holder of a body is the root of a fused node of the group.
  static bool holds(const PlanLevel& level, const SetGroup& group, const PlanLevel& body) {
    const auto isRoot = [](const Plan* plan, const std::vector<std::uint32_t>& fused, NodeId holder) {
      return holder.valid() &&
             std::ranges::any_of(fused, [&](std::uint32_t i) { return plan->fusedNodes[i].root == holder; });
    };
    return body.holderOfA.valid() ? isRoot(level.a, group.a, body.holderOfA) : isRoot(level.b, group.b, body.holderOfB);
  }

  static CoverGroup groupOf(const PlanLevel& level, const SetGroup& of) {
    CoverGroup group{.body = level.path(), .same = of.same};
    std::unordered_set<std::string> listed;
    const auto addOrigin = [&](const Plan& plan, const BodyPath& path, OriginId origin) {
      std::string name = path.of(plan.model->origins[origin.index].name);
      if (listed.insert(name).second) group.origins.push_back(std::move(name));
    };
    for (const std::uint32_t fused : of.a) {
      group.a.push_back(coveringNode(level, true, fused));
      for (const OriginId origin : level.a->fusedNodes[fused].origins) addOrigin(*level.a, level.pathOfA, origin);
    }
    for (const std::uint32_t fused : of.b) {
      group.b.push_back(coveringNode(level, false, fused));
      for (const NodeId node : level.b->fusedNodes[fused].nodes) {
        if (level.match.nodeOfA[node.index].valid()) continue;
        for (const OriginId origin : level.b->graph().node(node).origins) addOrigin(*level.b, level.pathOfB, origin);
      }
    }
    return group;
  }

  const std::vector<PlanLevel>& m_levels;
  std::vector<CoverGroup> m_groups;
};

}  // namespace

std::vector<SetGroup> fusedGroups(const PlanLevel& level) {
  std::vector<std::vector<std::uint32_t>> a, b;
  if (level.a != nullptr) {
    for (const FusedNode& fused : level.a->fusedNodes) {
      std::vector<std::uint32_t>& things = a.emplace_back();
      for (const NodeId node : fused.nodes) things.push_back(level.thingOfA(node));
    }
  }
  if (level.b != nullptr) {
    for (const FusedNode& fused : level.b->fusedNodes) {
      std::vector<std::uint32_t>& things = b.emplace_back();
      for (const NodeId node : fused.nodes) things.push_back(level.thingOfB(node));
    }
  }
  return groupSets(a, b);
}

CoveringNode coveringNode(const PlanLevel& level, bool ofA, std::uint32_t fused) {
  const FusedNode& node = (ofA ? level.a : level.b)->fusedNodes[fused];
  return {node.id, NetworkPlace{ofA ? level.pathOfA : level.pathOfB, node.name}, node.identity, node.nodes.size()};
}

std::vector<CoverGroup> commonCover(const Plan& a, const Plan& b) {
  return CommonCover(planLevels(a, b)).run();
}

}  // namespace fusescope
