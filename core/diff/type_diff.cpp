#include <algorithm>
#include <map>
#include <tuple>

#include "base/text.h"
#include "diff/diff_parts.h"
#include "planning/fused_node_facts.h"

namespace fusescope {

namespace {

std::string typesText(const Plan& plan, const FusedNode& fused) {
  std::vector<std::string> names;
  for (const DataType type : calculatedTypes(plan, fused)) names.emplace_back(name(type));
  return joined(names);
}

/// Where a value is made, else where it is first read.
ChangePlace placeOf(const PlanLevel& level, bool ofA, ValueId value) {
  const Value& about = (ofA ? level.a : level.b)->graph().value(value);
  const NodeId near = about.producer.valid() ? about.producer : about.consumers.empty() ? NodeId() : about.consumers[0];
  if (!near.valid()) return {};
  return ofA ? placeInA(level, near) : placeInB(level, near);
}

/// By ValueId: what leaves a fused node, as it stands in memory.
std::vector<DataType> storedOutputs(const Plan& plan) {
  std::vector<DataType> types(plan.graph().valueIdLimit(), DataType::Undefined);
  for (const FusedNode& fused : plan.fusedNodes)
    for (const FusedOutput& output : fused.outputs) types[output.value.index] = output.type;
  return types;
}

std::vector<DataType> granted(const Plan& plan) {
  std::vector<DataType> types(plan.graph().nodeIdLimit(), DataType::Undefined);
  for (const PrecisionGrant& grant : plan.precisionMap) types[grant.node.index] = grant.granted;
  return types;
}

/// One conversion, whoever reads it: casts of one value between the same types are told apart by their number only.
using CastKey = std::tuple<std::uint32_t, DataType, DataType>;

}  // namespace

void addTypeChanges(const PlanLevel& level, std::size_t place, CauseFinder* causes, PlanDiff& diff) {
  if (level.a == nullptr || level.b == nullptr) return;
  const Plan& a = *level.a;
  const Plan& b = *level.b;
  const auto add = [&](TypeChange change, Causes because) {
    change.because = std::move(because);
    diff.types.push_back(std::move(change));
  };
  const auto ofNode = [&](NodeId node) {
    const std::uint32_t thing = level.thingOfA(node);
    return causes == nullptr ? Causes() : causes->ofNodes(place, Aspect::Type, {&thing, 1});
  };
  std::vector<char> told(a.graph().nodeIdLimit(), 0);
  for (const SetGroup& group : fusedGroups(level)) {
    if (!group.same) continue;
    const FusedNode& before = a.fusedNodes[group.a.front()];
    const FusedNode& after = b.fusedNodes[group.b.front()];
    const std::string textOfA = typesText(a, before), textOfB = typesText(b, after);
    if (textOfA == textOfB) continue;
    std::vector<std::uint32_t> things;
    for (const NodeId node : before.nodes) {
      told[node.index] = 1;
      things.push_back(level.thingOfA(node));
    }
    add({TypedThing::FusedNode, level.pathOfA.of(before.name), level.pathOfB.of(after.name), textOfA, textOfB, false,
         placeInA(level, before.root)},
        causes == nullptr ? Causes() : causes->ofNodes(place, Aspect::Type, things));
  }
  const std::vector<DataType> grantedInB = granted(b);
  for (const PrecisionGrant& grant : a.precisionMap) {
    const NodeId other = level.match.nodeOfB[grant.node.index];
    if (!other.valid() || grantedInB[other.index] == grant.granted) continue;
    add({TypedThing::Node, level.pathOfA.of(a.graph().node(grant.node).name),
         level.pathOfB.of(b.graph().node(other).name), std::string(name(grant.granted)),
         std::string(name(grantedInB[other.index])), told[grant.node.index] != 0, placeInA(level, grant.node)},
        ofNode(grant.node));
  }
  const std::vector<DataType> storedInB = storedOutputs(b);
  for (const FusedNode& fused : a.fusedNodes) {
    for (const FusedOutput& output : fused.outputs) {
      const ValueId other = level.match.valueOfB[output.value.index];
      if (!other.valid() || storedInB[other.index] == DataType::Undefined || storedInB[other.index] == output.type)
        continue;
      add({TypedThing::Value, level.pathOfA.of(a.graph().value(output.value).name),
           level.pathOfB.of(b.graph().value(other).name), std::string(name(output.type)),
           std::string(name(storedInB[other.index])), false, placeOf(level, true, output.value)},
          causes == nullptr ? Causes() : causes->ofValue(place, Aspect::Stored, true, output.value));
    }
  }
}

void addCastChanges(const PlanLevel& level, std::size_t place, CauseFinder* causes, PlanDiff& diff) {
  if (level.a == nullptr || level.b == nullptr) return;
  const auto offset = static_cast<std::uint32_t>(level.match.valueOfB.size());
  const auto keyOf = [&](const PlannedCast& cast, bool ofA) {
    const ValueId value = ofA ? cast.value : level.match.valueOfA[cast.value.index];
    return CastKey(value.valid() ? value.index : offset + cast.value.index, cast.from, cast.to);
  };
  std::map<CastKey, int> surplus;  // casts of B less those of A
  for (const PlannedCast& cast : level.b->casts) ++surplus[keyOf(cast, false)];
  for (const PlannedCast& cast : level.a->casts) --surplus[keyOf(cast, true)];
  const auto list = [&](bool ofA) {
    const Plan& plan = ofA ? *level.a : *level.b;
    for (const PlannedCast& cast : plan.casts) {
      int& left = surplus[keyOf(cast, ofA)];
      if (ofA ? left >= 0 : left <= 0) continue;
      left += ofA ? 1 : -1;
      CastChange change{.added = !ofA,
                        .value = (ofA ? level.pathOfA : level.pathOfB).of(plan.graph().value(cast.value).name),
                        .from = cast.from,
                        .to = cast.to,
                        .bytes = cast.bytes,
                        .reason = cast.reason,
                        .place = placeOf(level, ofA, cast.value)};
      if (causes != nullptr) change.because = causes->ofValue(place, Aspect::Casts, ofA, cast.value);
      diff.casts.push_back(std::move(change));
    }
  };
  list(true);
  list(false);
}

}  // namespace fusescope
