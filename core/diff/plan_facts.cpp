#include "diff/plan_facts.h"

#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/hash.h"
#include "base/json.h"
#include "diff/node_labels.h"
#include "ir/graph.h"

namespace fusescope {

namespace {

/// Maps nodes and values of a plan that was made again to the two sides of a level. The plan is of one side's file;
/// codes may be in other places than on the other side.
class PlaceInLevel {
 public:
  PlaceInLevel(const PlanLevel& level, const Cover& plan, bool ofA)
      : m_level(level), m_graph(plan.graph()), m_ofA(ofA), m_own((ofA ? level.a : level.b)->graph()) {
    const Cover* other = ofA ? level.b : level.a;
    if (other != nullptr) m_other = &other->graph();
  }

  std::uint32_t thingOf(NodeId node) const {
    if (&m_graph == &m_own) return thing(node, m_ofA);
    const Node& of = m_graph.node(node);
    if (const auto own = alike(m_own, of)) return thing(*own, m_ofA);
    const auto other = m_other == nullptr ? std::nullopt : alike(*m_other, of);
    return other ? thing(*other, !m_ofA) : static_cast<std::uint32_t>(thingsOf(m_level)) + node.index;
  }

  ValueId valueInA(ValueId value) const {
    if (!value.valid()) return {};
    if (&m_graph == &m_own) return inA(value, m_ofA);
    const std::string& name = m_graph.value(value).name;
    if (m_own.has(value) && m_own.value(value).name == name) return inA(value, m_ofA);
    if (const auto own = m_own.findValue(name)) return inA(*own, m_ofA);
    const auto other = m_other == nullptr ? std::nullopt : m_other->findValue(name);
    return other ? inA(*other, !m_ofA) : ValueId();
  }

 private:
  std::uint32_t thing(NodeId node, bool ofA) const {
    return ofA ? m_level.nodeNumberOfA(node) : m_level.nodeNumberOfB(node);
  }
  ValueId inA(ValueId value, bool ofA) const { return ofA ? value : m_level.match.valueOfA[value.index]; }

  static std::optional<NodeId> alike(const Graph& graph, const Node& node) {
    const auto isIt = [&](NodeId id) {
      const Node& other = graph.node(id);
      return other.op == node.op && other.domain == node.domain && other.name == node.name;
    };
    if (graph.has(node.id) && isIt(node.id)) return node.id;
    const auto named = graph.findNode(node.name);
    return named && isIt(*named) ? named : std::nullopt;
  }

  const PlanLevel& m_level;
  const Graph& m_graph;
  bool m_ofA;
  const Graph& m_own;
  const Graph* m_other = nullptr;
};

/// Returns a sum that does not depend on the order of the nodes.
template <class NodesOf>
void addSets(const PlaceInLevel& place, const auto& sets, NodesOf nodesOf, std::vector<std::uint64_t>& table) {
  for (const auto& set : sets) {
    std::uint64_t sum = nodesOf(set).second;
    for (const NodeId node : nodesOf(set).first) sum += mixed(place.thingOf(node), 1);
    for (const NodeId node : nodesOf(set).first)
      if (const std::uint32_t thing = place.thingOf(node); thing < table.size()) table[thing] = sum;
  }
}

/// Adds, for each node, the codes and arguments of the decisions about it. Ids of directives are left out, because they
/// differ between lists.
void addDecisions(const PlaceInLevel& place, const Cover& plan, std::vector<std::uint64_t>& table) {
  for (const Decision& decision : plan.decisions) {
    const std::uint64_t said = mixed(hashText(decision.code).low, hashText(decision.arguments.toJson().dump()).low);
    for (const Subject& subject : decision.subjects) {
      const auto node = subject.nodeIn(plan.graph());
      if (!node) continue;
      if (const std::uint32_t thing = place.thingOf(*node); thing < table.size()) table[thing] += mixed(said, 1);
    }
  }
}

}  // namespace

std::size_t thingsOf(const PlanLevel& level) {
  return level.match.nodeOfB.size() + level.match.nodeOfA.size();
}

LevelFacts factsOf(const PlanLevel& level, const Cover* plan, bool ofA) {
  LevelFacts facts;
  const auto table = [&](Aspect aspect) -> std::vector<std::uint64_t>& {
    return facts.of[static_cast<std::size_t>(aspect)];
  };
  for (const Aspect aspect : {Aspect::Kernel, Aspect::Segment, Aspect::Type, Aspect::Said})
    table(aspect).assign(thingsOf(level), 0);
  for (const Aspect aspect : {Aspect::Stored, Aspect::Casts}) table(aspect).assign(level.match.valueOfB.size(), 0);
  // A plan that was made again may have a plan for a body where this side has none; there is nothing to compare it
  // with.
  if (plan == nullptr || (ofA ? level.a : level.b) == nullptr) return facts;
  const PlaceInLevel place(level, *plan, ofA);

  using Nodes = std::pair<std::span<const NodeId>, std::uint64_t>;
  addSets(
      place, plan->fusedNodes, [](const FusedNode& fused) { return Nodes(fused.nodes, 0); }, table(Aspect::Kernel));
  addSets(
      place, plan->segments,
      [](const Segment& segment) {
        const auto run = std::uint64_t(hashText(segment.backend).low) + static_cast<std::uint64_t>(segment.kind);
        return Nodes(segment.nodes, run);
      },
      table(Aspect::Segment));
  for (const PrecisionGrant& grant : plan->precisionMap) {
    const std::uint32_t thing = place.thingOf(grant.node);
    if (thing < table(Aspect::Type).size()) table(Aspect::Type)[thing] = 1 + static_cast<std::uint64_t>(grant.granted);
  }
  for (const FusedNode& fused : plan->fusedNodes)
    for (const FusedOutput& output : fused.outputs)
      if (const ValueId value = place.valueInA(output.value); value.valid())
        table(Aspect::Stored)[value.index] = 1 + static_cast<std::uint64_t>(output.type);
  for (const PlannedCast& cast : plan->casts)
    if (const ValueId value = place.valueInA(cast.value); value.valid())
      table(Aspect::Casts)[value.index] +=
          mixed(1 + static_cast<std::uint64_t>(cast.from), 1 + static_cast<std::uint64_t>(cast.to));
  addDecisions(place, *plan, table(Aspect::Said));
  return facts;
}

}  // namespace fusescope
