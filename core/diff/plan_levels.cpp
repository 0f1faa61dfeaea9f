#include "diff/plan_levels.h"

#include <algorithm>

#include "ir/graph.h"

namespace fusescope {

namespace {

/// Returns the match for a body that only one side has.
NetworkMatch nothingMatched(const Cover* a, const Cover* b) {
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

PlanLevel levelOf(const Cover* a, const Cover* b) {
  PlanLevel level{.a = a, .b = b};
  level.match = a != nullptr && b != nullptr ? matchNetworks(*a->model, *b->model) : nothingMatched(a, b);
  return level;
}

/// Returns the bodies of one holder on one side that have plans.
std::vector<const CoverBody*> bodiesOf(const Cover* plan, NodeId holder) {
  std::vector<const CoverBody*> found;
  if (plan == nullptr || !holder.valid()) return found;
  for (const CoverBody& body : plan->bodies)
    if (body.holder == holder) found.push_back(&body);
  return found;
}

/// Returns whether a missing plan of a body of `holder` means that the side runs the body operator by operator.
bool reportsBodies(const Cover* around, NodeId holder) {
  const ReadBackPlan* readBack = around == nullptr ? nullptr : asReadBack(*around);
  return readBack == nullptr || !holder.valid() || readBack->fateOf(holder) == Fate::Fallback;
}

class LevelWalk {
 public:
  std::vector<PlanLevel> from(const Cover& a, const Cover& b) {
    m_levels.push_back(levelOf(&a, &b));
    goInto(0);
    return std::move(m_levels);
  }

 private:
  void goInto(std::size_t around) {
    const Cover* a = m_levels[around].a;
    const Cover* b = m_levels[around].b;
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
      for (const CoverBody* body : *bodies)
        if (std::ranges::find(attributes, body->attribute) == attributes.end()) attributes.push_back(body->attribute);
    const auto planOf = [](const std::vector<const CoverBody*>& bodies, const std::string& attribute) {
      const auto found = std::ranges::find(bodies, attribute, &CoverBody::attribute);
      return found == bodies.end() ? nullptr : (*found)->cover.get();
    };
    for (const std::string& attribute : attributes) {
      PlanLevel level = levelOf(planOf(as, attribute), planOf(bs, attribute));
      level.around = static_cast<int>(around);
      level.holderOfA = ofA;
      level.holderOfB = ofB;
      const PlanLevel& outer = m_levels[around];
      if (level.a == nullptr) level.isDisclosed = reportsBodies(outer.a, ofA);
      if (level.b == nullptr) level.isDisclosed = reportsBodies(outer.b, ofB);
      const auto inside = [&](const Cover* plan, NodeId holder, const BodyPath& path) {
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

std::uint32_t PlanLevel::nodeNumberOfB(NodeId node) const {
  const NodeId counterpart = match.nodeOfA[node.index];
  return counterpart.valid() ? counterpart.index : static_cast<std::uint32_t>(match.nodeOfB.size()) + node.index;
}

std::string PlanLevel::nameOf(std::uint32_t thing) const {
  if (inA(thing)) return pathOfA.of(a->graph().node(NodeId(thing)).name);
  return pathOfB.of(b->graph().node(NodeId(thing - match.nodeOfB.size())).name);
}

bool PlanLevel::hasKernels(std::uint32_t thing) const {
  return !inBoth(thing) || (hasKernel(*a, NodeId(thing)) && hasKernel(*b, match.nodeOfB[thing]));
}

bool PlanLevel::isPlanned() const {
  return (a == nullptr || asPlan(*a) != nullptr) && (b == nullptr || asPlan(*b) != nullptr);
}

bool PlanLevel::typesDiffer(DataType ofA, DataType ofB) const {
  return ofA != ofB && (isPlanned() || (ofA != DataType::Undefined && ofB != DataType::Undefined));
}

bool hasKernel(const Cover& cover, NodeId node) {
  return asPlan(cover) != nullptr || cover.fusedNodeOf(node) != nullptr;
}

std::vector<PlanLevel> planLevels(const Cover& a, const Cover& b) {
  return LevelWalk().from(a, b);
}

}  // namespace fusescope
