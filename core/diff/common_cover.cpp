#include "diff/common_cover.h"

#include <algorithm>
#include <unordered_set>

#include "ir/graph.h"

namespace fusescope {

namespace {

class CommonCover {
 public:
  explicit CommonCover(const std::vector<PlanLevel>& levels) : m_levels(levels), m_isCovered(levels.size(), 0) {}

  std::vector<CoverGroup> run() {
    cover(0);
    return std::move(m_groups);
  }

 private:
  void cover(std::size_t place) {
    if (m_isCovered[place] != 0) return;  // several kernels run the holder of this body
    m_isCovered[place] = 1;
    const PlanLevel& level = m_levels[place];
    for (const SetGroup& group : fusedGroups(level)) {
      m_groups.push_back(groupOf(level, group));
      for (std::size_t inner = place + 1; inner < m_levels.size(); ++inner)
        if (m_levels[inner].around == static_cast<int>(place) && holds(level, group, m_levels[inner])) cover(inner);
    }
  }

  /// Returns whether a fused node of the group runs the holder of the body.
  static bool holds(const PlanLevel& level, const SetGroup& group, const PlanLevel& body) {
    const auto runs = [](const Cover* plan, const std::vector<std::uint32_t>& fused, NodeId holder) {
      return holder.valid() && std::ranges::any_of(fused, [&](std::uint32_t i) {
               const std::vector<NodeId>& nodes = plan->fusedNodes[i].nodes;
               return std::ranges::find(nodes, holder) != nodes.end();
             });
    };
    const bool isInA = body.holderOfA.valid() && hasKernel(*level.a, body.holderOfA);
    return isInA ? runs(level.a, group.a, body.holderOfA) : runs(level.b, group.b, body.holderOfB);
  }

  static CoverGroup groupOf(const PlanLevel& level, const SetGroup& of) {
    CoverGroup group{.body = level.path(), .same = of.same};
    std::unordered_set<std::string> listed;
    const auto addOrigin = [&](const Cover& plan, const BodyPath& path, OriginId origin) {
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
        const NodeId inA = level.match.nodeOfA[node.index];
        if (inA.valid() && hasKernel(*level.a, inA)) continue;
        const Cover& named = inA.valid() ? *level.a : *level.b;
        const BodyPath& path = inA.valid() ? level.pathOfA : level.pathOfB;
        for (const OriginId origin : named.graph().node(inA.valid() ? inA : node).origins)
          addOrigin(named, path, origin);
      }
    }
    return group;
  }

  const std::vector<PlanLevel>& m_levels;
  std::vector<char> m_isCovered;  ///< indexed by the number of the level
  std::vector<CoverGroup> m_groups;
};

}  // namespace

std::vector<std::uint32_t> comparedThings(const PlanLevel& level, bool ofA, const FusedNode& fused) {
  std::vector<std::uint32_t> things;
  for (const NodeId node : fused.nodes) {
    const std::uint32_t thing = ofA ? level.nodeNumberOfA(node) : level.nodeNumberOfB(node);
    if (level.hasKernels(thing)) things.push_back(thing);
  }
  return things;
}

std::vector<SetGroup> fusedGroups(const PlanLevel& level) {
  std::vector<std::vector<std::uint32_t>> a, b;
  if (level.a != nullptr)
    for (const FusedNode& fused : level.a->fusedNodes) a.push_back(comparedThings(level, true, fused));
  if (level.b != nullptr)
    for (const FusedNode& fused : level.b->fusedNodes) b.push_back(comparedThings(level, false, fused));
  return groupSets(a, b);
}

CoveringNode coveringNode(const PlanLevel& level, bool ofA, std::uint32_t fused) {
  const FusedNode& node = (ofA ? level.a : level.b)->fusedNodes[fused];
  return {node.id, NetworkPlace{ofA ? level.pathOfA : level.pathOfB, node.name}, node.identity, node.nodes.size()};
}

std::vector<CoverGroup> commonCover(const Cover& a, const Cover& b) {
  return CommonCover(planLevels(a, b)).run();
}

}  // namespace fusescope
