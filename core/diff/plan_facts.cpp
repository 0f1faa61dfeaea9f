#include "diff/plan_facts.h"

#include <span>
#include <utility>

#include "base/hash.h"
#include "diff/node_labels.h"

namespace fusescope {

namespace {

/// Adds up what does not depend on the order of the nodes.
template <class NodesOf>
void addSets(const PlanLevel& level, const auto& sets, bool ofA, NodesOf nodesOf, std::vector<std::uint64_t>& table) {
  const auto thingOf = [&](NodeId node) { return ofA ? level.thingOfA(node) : level.thingOfB(node); };
  for (const auto& set : sets) {
    std::uint64_t sum = nodesOf(set).second;
    for (const NodeId node : nodesOf(set).first) sum += mixed(thingOf(node), 1);
    for (const NodeId node : nodesOf(set).first)
      if (thingOf(node) < table.size()) table[thingOf(node)] = sum;
  }
}

}  // namespace

LevelFacts factsOf(const PlanLevel& level, const Plan* plan, bool ofA) {
  LevelFacts facts;
  const auto table = [&](Aspect aspect) -> std::vector<std::uint64_t>& {
    return facts.of[static_cast<std::size_t>(aspect)];
  };
  for (const Aspect aspect : {Aspect::Kernel, Aspect::Segment, Aspect::Type})
    table(aspect).assign(level.match.nodeOfB.size(), 0);
  for (const Aspect aspect : {Aspect::Stored, Aspect::Casts}) table(aspect).assign(level.match.valueOfB.size(), 0);
  // A plan that was made again may have a body where that of this side has none: there is nothing to compare it with.
  if (plan == nullptr || (ofA ? level.a : level.b) == nullptr) return facts;
  const auto valueInA = [&](ValueId value) { return ofA ? value : level.match.valueOfA[value.index]; };

  using Nodes = std::pair<std::span<const NodeId>, std::uint64_t>;
  addSets(
      level, plan->fusedNodes, ofA, [](const FusedNode& fused) { return Nodes(fused.nodes, 0); },
      table(Aspect::Kernel));
  addSets(
      level, plan->segments, ofA,
      [](const Segment& segment) {
        const auto run = std::uint64_t(hashText(segment.backend).low) + static_cast<std::uint64_t>(segment.kind);
        return Nodes(segment.nodes, run);
      },
      table(Aspect::Segment));
  for (const PrecisionGrant& grant : plan->precisionMap) {
    const std::uint32_t thing = ofA ? level.thingOfA(grant.node) : level.thingOfB(grant.node);
    if (thing < table(Aspect::Type).size()) table(Aspect::Type)[thing] = 1 + static_cast<std::uint64_t>(grant.granted);
  }
  for (const FusedNode& fused : plan->fusedNodes)
    for (const FusedOutput& output : fused.outputs)
      if (const ValueId value = valueInA(output.value); value.valid())
        table(Aspect::Stored)[value.index] = 1 + static_cast<std::uint64_t>(output.type);
  for (const PlannedCast& cast : plan->casts)
    if (const ValueId value = valueInA(cast.value); value.valid())
      table(Aspect::Casts)[value.index] +=
          mixed(1 + static_cast<std::uint64_t>(cast.from), 1 + static_cast<std::uint64_t>(cast.to));
  return facts;
}

}  // namespace fusescope
