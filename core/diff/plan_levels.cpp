#include "diff/plan_levels.h"

#include <algorithm>

namespace fusescope {

namespace {

/// Of a body that one side alone has.
NetworkMatch nothingMatched(const Plan* a, const Plan* b) {
  NetworkMatch match;
  if (a != nullptr) {
    match.nodeOfB.resize(a->graph().nodeIdLimit());
    match.how.assign(a->graph().nodeIdLimit(), MatchedBy::Nothing);
    match.valueOfB.resize(a->graph().valueIdLimit());
    match.onlyA = a->graph().order();
  }
  if (b != nullptr) {
    match.nodeOfA.resize(b->graph().nodeIdLimit());
    match.valueOfA.resize(b->graph().valueIdLimit());
    match.onlyB = b->graph().order();
  }
  return match;
}

PlanLevel levelOf(const Plan* a, const Plan* b) {
  PlanLevel level{.a = a, .b = b};
  level.match = a != nullptr && b != nullptr ? matchNetworks(*a->model, *b->model) : nothingMatched(a, b);
  return level;
}

/// The bodies of one holder on one side: those that have plans.
std::vector<const PlannedBody*> bodiesOf(const Plan* plan, NodeId holder) {
  std::vector<const PlannedBody*> found;
  if (plan == nullptr || !holder.valid()) return found;
  for (const PlannedBody& body : plan->bodies)
    if (body.holder == holder) found.push_back(&body);
  return found;
}

class LevelWalk {
 public:
  std::vector<PlanLevel> from(const Plan& a, const Plan& b) {
    m_levels.push_back(levelOf(&a, &b));
    goInto(0);
    return std::move(m_levels);
  }

 private:
  void goInto(std::size_t around) {
    const Plan* a = m_levels[around].a;
    const Plan* b = m_levels[around].b;
    if (a != nullptr && !a->bodies.empty())
      for (const NodeId holder : a->graph().order())
        if (hasBody(a->graph().node(holder))) addBodies(around, holder, m_levels[around].match.nodeOfB[holder.index]);
    if (b != nullptr && !b->bodies.empty())
      for (const NodeId holder : b->graph().order()) {
        if (!hasBody(b->graph().node(holder))) continue;
        const NodeId ofA = m_levels[around].match.nodeOfA[holder.index];
        if (!ofA.valid() || a->bodies.empty()) addBodies(around, ofA, holder);
      }
  }

  void addBodies(std::size_t around, NodeId ofA, NodeId ofB) {
    const auto as = bodiesOf(m_levels[around].a, ofA), bs = bodiesOf(m_levels[around].b, ofB);
    std::vector<std::string> attributes;
    for (const auto* bodies : {&as, &bs})
      for (const PlannedBody* body : *bodies)
        if (std::ranges::find(attributes, body->attribute) == attributes.end()) attributes.push_back(body->attribute);
    const auto planOf = [](const std::vector<const PlannedBody*>& bodies, const std::string& attribute) {
      const auto found = std::ranges::find(bodies, attribute, &PlannedBody::attribute);
      return found == bodies.end() ? nullptr : (*found)->plan.get();
    };
    for (const std::string& attribute : attributes) {
      PlanLevel level = levelOf(planOf(as, attribute), planOf(bs, attribute));
      level.around = static_cast<int>(around);
      level.holderOfA = ofA;
      level.holderOfB = ofB;
      const PlanLevel& outer = m_levels[around];
      const auto inside = [&](const Plan* plan, NodeId holder, const BodyPath& path) {
        const bool isThere = plan != nullptr && holder.valid();
        return isThere ? path.into(plan->graph().node(holder), attribute) : BodyPath();
      };
      level.pathOfA = inside(outer.a, ofA, outer.pathOfA);
      level.pathOfB = inside(outer.b, ofB, outer.pathOfB);
      m_levels.push_back(std::move(level));
      goInto(m_levels.size() - 1);
    }
  }

  std::vector<PlanLevel> m_levels;
};

}  // namespace

std::uint32_t PlanLevel::thingOfB(NodeId node) const {
  const NodeId counterpart = match.nodeOfA[node.index];
  return counterpart.valid() ? counterpart.index : static_cast<std::uint32_t>(match.nodeOfB.size()) + node.index;
}

std::string PlanLevel::nameOf(std::uint32_t thing) const {
  if (inA(thing)) return pathOfA.of(a->graph().node(NodeId(thing)).name);
  return pathOfB.of(b->graph().node(NodeId(thing - match.nodeOfB.size())).name);
}

std::vector<PlanLevel> planLevels(const Plan& a, const Plan& b) {
  return LevelWalk().from(a, b);
}

}  // namespace fusescope
