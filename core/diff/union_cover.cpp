#include "diff/union_cover.h"

#include <algorithm>
#include <utility>

#include "diff/common_cover.h"
#include "diff/union_graph.h"
#include "ir/graph.h"
#include "planning/identities.h"
#include "planning/plan.h"

namespace fusescope {

namespace {

/// Makes the cover of one level. It is a Plan that no planner made: it contains what the canvas reads of a Cover, and
/// no decisions.
class UnionOfLevel {
 public:
  UnionOfLevel(const PlanLevel& level, UnionLevel& into) : m_level(level), m_into(into) {}

  Result<std::shared_ptr<Plan>> make() {
    m_plan = std::make_shared<Plan>();
    m_plan->model = TRY(unionModel(m_level, m_into));
    const Cover& first = m_level.a != nullptr ? *m_level.a : *m_level.b;
    m_plan->target = first.target;
    m_plan->options = first.options;
    m_plan->inputSpecs = first.inputSpecs;
    const Graph& graph = m_plan->graph();
    std::uint32_t place = 0;
    m_place.resize(graph.nodeIdLimit());
    for (const NodeId node : graph.order()) m_place[node.index] = place++;
    addSegments();
    addGroups();
    m_plan->calculates.assign(graph.nodeIdLimit(), DataType::Undefined);
    if (m_level.a != nullptr) std::ranges::copy(m_level.a->calculates, m_plan->calculates.begin());
    m_plan->index();
    return std::move(m_plan);
  }

 private:
  const std::vector<NodeId>& nodesOf(bool ofA) const { return ofA ? m_into.nodeOfA : m_into.nodeOfB; }

  /// Adds the nodes of the union that represent `nodes` of a side and that have not been added yet.
  void take(bool ofA, const std::vector<NodeId>& nodes, std::vector<char>& taken, std::vector<NodeId>& into) const {
    for (const NodeId node : nodes) {
      const NodeId here = nodesOf(ofA)[node.index];
      if (!here.valid() || std::exchange(taken[here.index], 1) != 0) continue;
      into.push_back(here);
    }
  }
  void order(std::vector<NodeId>& nodes) const {
    std::ranges::sort(nodes, {}, [&](NodeId node) { return m_place[node.index]; });
  }

  /// Segments that contain the same nodes, directly or through others, become one.
  void addSegments() {
    std::vector<std::vector<std::uint32_t>> a, b;
    const auto sets = [&](const Cover* side, bool ofA, std::vector<std::vector<std::uint32_t>>& into) {
      if (side == nullptr) return;
      for (const Segment& segment : side->segments) {
        std::vector<std::uint32_t>& set = into.emplace_back();
        for (const NodeId node : segment.nodes)
          set.push_back(ofA ? m_level.nodeNumberOfA(node) : m_level.nodeNumberOfB(node));
      }
    };
    sets(m_level.a, true, a);
    sets(m_level.b, false, b);
    std::vector<char> taken(m_place.size(), 0);
    m_segmentOfNode.resize(m_place.size());
    for (const SetGroup& group : groupSets(a, b)) {
      Segment segment = group.a.empty() ? m_level.b->segments[group.b.front()] : m_level.a->segments[group.a.front()];
      segment.nodes.clear();
      for (const std::uint32_t i : group.a) take(true, m_level.a->segments[i].nodes, taken, segment.nodes);
      for (const std::uint32_t i : group.b) take(false, m_level.b->segments[i].nodes, taken, segment.nodes);
      order(segment.nodes);
      segment.id = SegmentId(m_plan->segments.size());
      for (const NodeId node : segment.nodes) m_segmentOfNode[node.index] = segment.id;
      m_plan->segments.push_back(std::move(segment));
    }
  }

  void addGroups() {
    std::vector<char> taken(m_place.size(), 0);
    const Identities identities(*m_plan->model);
    for (SetGroup& group : fusedGroups(m_level)) {
      FusedNode fused = likeLargest(group);
      for (const std::uint32_t i : group.a) take(true, m_level.a->fusedNodes[i].nodes, taken, fused.nodes);
      for (const std::uint32_t i : group.b) take(false, m_level.b->fusedNodes[i].nodes, taken, fused.nodes);
      if (fused.nodes.empty()) continue;  // kernels without nodes, or whose nodes are in other groups
      order(fused.nodes);
      if (!fused.root.valid() || std::ranges::find(fused.nodes, fused.root) == fused.nodes.end())
        fused.root = fused.nodes.front();
      for (const NodeId node : fused.nodes) {
        const std::vector<OriginId>& origins = m_plan->graph().node(node).origins;
        fused.origins.insert(fused.origins.end(), origins.begin(), origins.end());
      }
      std::ranges::sort(fused.origins);
      fused.origins.erase(std::unique(fused.origins.begin(), fused.origins.end()), fused.origins.end());
      fused.identity = identities.of(fused.nodes, fused.origins);
      fused.id = FusedNodeId(m_plan->fusedNodes.size());
      fused.segment = m_segmentOfNode[fused.nodes.front().index];
      m_plan->fusedNodes.push_back(std::move(fused));
      m_into.groups.push_back({std::move(group.a), std::move(group.b), group.same});
    }
  }

  /// Returns a fused node with the name, kind and root of the largest kernel of the group.
  FusedNode likeLargest(const SetGroup& group) const {
    const FusedNode* largest = nullptr;
    bool isOfA = true;
    const auto look = [&](const Cover* side, const std::vector<std::uint32_t>& kernels, bool ofA) {
      for (const std::uint32_t i : kernels) {
        const FusedNode& fused = side->fusedNodes[i];
        if (largest != nullptr && fused.nodes.size() <= largest->nodes.size()) continue;
        largest = &fused;
        isOfA = ofA;
      }
    };
    look(m_level.a, group.a, true);
    look(m_level.b, group.b, false);
    FusedNode fused{.name = largest->name, .kind = largest->kind, .compute = largest->compute};
    if (largest->root.valid()) fused.root = nodesOf(isOfA)[largest->root.index];
    return fused;
  }

  const PlanLevel& m_level;
  UnionLevel& m_into;
  std::shared_ptr<Plan> m_plan;
  std::vector<std::uint32_t> m_place;  ///< for each node of the union, its place in the order of the graph
  std::vector<SegmentId> m_segmentOfNode;
};

}  // namespace

Result<UnionCover> unionCover(std::shared_ptr<const Cover> a, std::shared_ptr<const Cover> b) {
  const std::vector<PlanLevel> levels = planLevels(*a, *b);
  UnionCover made{.a = std::move(a), .b = std::move(b), .levels = std::vector<UnionLevel>(levels.size())};
  std::vector<std::shared_ptr<Plan>> covers(levels.size());
  for (std::size_t place = levels.size(); place-- > 0;) {  // bodies come before the graphs around them
    UnionLevel& level = made.levels[place];
    level.a = levels[place].a;
    level.b = levels[place].b;
    covers[place] = TRY(UnionOfLevel(levels[place], level).make());
    level.cover = covers[place].get();
    if (level.a != nullptr && level.b != nullptr)
      made.oneGraph &= covers[place]->model == level.a->model && levels[place].match.onlyA.empty();
  }
  for (std::size_t place = 1; place < levels.size(); ++place) {
    const PlanLevel& level = levels[place];
    const auto around = static_cast<std::size_t>(level.around);
    const UnionLevel& outer = made.levels[around];
    const NodeId holder =
        level.holderOfA.valid() ? outer.nodeOfA[level.holderOfA.index] : outer.nodeOfB[level.holderOfB.index];
    if (!holder.valid()) continue;
    const std::string& attribute = level.path().steps().back().attribute;
    covers[around]->bodies.push_back({holder, attribute, covers[place]});
  }
  made.cover = covers.front();
  return made;
}

}  // namespace fusescope
