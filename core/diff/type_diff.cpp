#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "diff/diff_parts.h"
#include "ir/graph.h"
#include "planning/fused_node_facts.h"

namespace fusescope {

namespace {

/// Returns "f32", or "f32, f16" for a fused node that mixes types. If not all types of a side are known, returns the
/// type of the kernel.
std::string typesText(const PlanLevel& level, const Cover& plan, const FusedNode& fused) {
  if (!level.isPlanned()) return std::string(name(fused.compute));
  std::vector<std::string> names;
  for (const DataType type : calculatedTypes(plan, fused)) names.emplace_back(name(type));
  return joined(names);
}

/// Returns the place where a value is calculated, otherwise where it is first read.
ChangePlace placeOf(const PlanLevel& level, bool ofA, ValueId value) {
  const Value& about = (ofA ? level.a : level.b)->graph().value(value);
  const NodeId near = about.producer.valid() ? about.producer : about.consumers.empty() ? NodeId() : about.consumers[0];
  if (!near.valid()) return {};
  return ofA ? placeInA(level, near) : placeInB(level, near);
}

/// By ValueId: the types in which fused nodes store their outputs.
std::vector<DataType> storedOutputs(const Cover& plan) {
  std::vector<DataType> types(plan.graph().valueIdLimit(), DataType::Undefined);
  for (const FusedNode& fused : plan.fusedNodes)
    for (const FusedOutput& output : fused.outputs)
      if (output.value.valid()) types[output.value.index] = output.type;
  return types;
}

std::vector<DataType> granted(const Cover& plan) {
  std::vector<DataType> types(plan.graph().nodeIdLimit(), DataType::Undefined);
  for (const PrecisionGrant& grant : plan.precisionMap) types[grant.node.index] = grant.granted;
  return types;
}

/// Compares the types of one level: those of fused nodes that both sides have, of nodes, and of values in memory.
class TypeDiff {
 public:
  TypeDiff(const PlanLevel& level, std::size_t place, CauseFinder* causes, PlanDiff& diff)
      : m_level(level), m_place(place), m_causes(causes), m_diff(diff), m_a(*level.a), m_b(*level.b) {}

  void run() {
    std::vector<char> isListed(m_a.graph().nodeIdLimit(), 0);
    for (const SetGroup& group : fusedGroups(m_level))
      for (std::size_t i = 0; group.same && i < group.a.size(); ++i)
        fusedNode(m_a.fusedNodes[group.a[i]], m_b.fusedNodes[group.b[i]], isListed);
    const std::vector<DataType> grantedInB = granted(m_b);
    for (const PrecisionGrant& grant : m_a.precisionMap) {
      const NodeId other = m_level.match.nodeOfB[grant.node.index];
      if (other.valid()) node(grant, other, grantedInB[other.index], isListed[grant.node.index] != 0);
    }
    const std::vector<DataType> storedInB = storedOutputs(m_b);
    std::vector<char> seen(m_a.graph().valueIdLimit(), 0);  // several kernels may calculate a value
    for (const FusedNode& fused : m_a.fusedNodes)
      for (const FusedOutput& output : fused.outputs)
        if (output.value.valid() && std::exchange(seen[output.value.index], 1) == 0) stored(output, storedInB);
  }

 private:
  void fusedNode(const FusedNode& before, const FusedNode& after, std::vector<char>& isListed) {
    const std::string textOfA = typesText(m_level, m_a, before), textOfB = typesText(m_level, m_b, after);
    if (textOfA == textOfB) return;
    if (!m_level.isPlanned() && !m_level.typesDiffer(before.compute, after.compute)) return;
    std::vector<std::uint32_t> things;
    for (const NodeId node : before.nodes) {
      isListed[node.index] = 1;
      things.push_back(m_level.nodeNumberOfA(node));
    }
    add({TypedThing::FusedNode, m_level.pathOfA.of(before.name), m_level.pathOfB.of(after.name), textOfA, textOfB,
         false, placeInA(m_level, before.nodes.front())},
        m_causes == nullptr ? Causes() : m_causes->ofNodes(m_place, Aspect::Type, things));
  }

  void node(const PrecisionGrant& grant, NodeId other, DataType inB, bool inSameKernel) {
    const std::uint32_t thing = m_level.nodeNumberOfA(grant.node);
    if (!m_level.typesDiffer(grant.granted, inB) || !m_level.hasKernels(thing)) return;
    add({TypedThing::Node, m_level.pathOfA.of(m_a.graph().node(grant.node).name),
         m_level.pathOfB.of(m_b.graph().node(other).name), std::string(name(grant.granted)), std::string(name(inB)),
         inSameKernel, placeInA(m_level, grant.node)},
        m_causes == nullptr ? Causes() : m_causes->ofNodes(m_place, Aspect::Type, {&thing, 1}));
  }

  void stored(const FusedOutput& output, const std::vector<DataType>& storedInB) {
    const ValueId other = m_level.match.valueOfB[output.value.index];
    const DataType inB = other.valid() ? storedInB[other.index] : DataType::Undefined;
    if (inB == DataType::Undefined || !m_level.typesDiffer(output.type, inB)) return;
    add({TypedThing::Value, m_level.pathOfA.of(m_a.graph().value(output.value).name),
         m_level.pathOfB.of(m_b.graph().value(other).name), std::string(name(output.type)), std::string(name(inB)),
         false, placeOf(m_level, true, output.value)},
        m_causes == nullptr ? Causes() : m_causes->ofValue(m_place, Aspect::Stored, true, output.value));
  }

  void add(TypeChange change, Causes because) {
    change.because = std::move(because);
    m_diff.types.push_back(std::move(change));
  }

  const PlanLevel& m_level;
  std::size_t m_place;
  CauseFinder* m_causes;
  PlanDiff& m_diff;
  const Cover& m_a;
  const Cover& m_b;
};

/// Identifies a conversion without its readers. Several casts of one value between the same types are distinguished
/// only by their number.
using CastKey = std::tuple<std::uint32_t, DataType, DataType>;

}  // namespace

void addTypeChanges(const PlanLevel& level, std::size_t place, CauseFinder* causes, PlanDiff& diff) {
  if (level.a != nullptr && level.b != nullptr) TypeDiff(level, place, causes, diff).run();
}

void addCastChanges(const PlanLevel& level, std::size_t place, CauseFinder* causes, PlanDiff& diff) {
  if (level.a == nullptr || level.b == nullptr) return;
  const auto offset = static_cast<std::uint32_t>(level.match.valueOfB.size());
  const auto keyOf = [&](const PlannedCast& cast, bool ofA) {
    const ValueId value = ofA ? cast.value : level.match.valueOfA[cast.value.index];
    return CastKey(value.valid() ? value.index : offset + cast.value.index, cast.from, cast.to);
  };
  std::map<CastKey, int> surplus;  // the number of B's casts minus that of A's
  const auto isOfNetwork = [](const PlannedCast& cast) { return cast.value.valid(); };
  for (const PlannedCast& cast : level.b->casts)
    if (isOfNetwork(cast)) ++surplus[keyOf(cast, false)];
  for (const PlannedCast& cast : level.a->casts)
    if (isOfNetwork(cast)) --surplus[keyOf(cast, true)];
  const auto list = [&](bool ofA) {
    const Cover& plan = ofA ? *level.a : *level.b;
    for (const PlannedCast& cast : plan.casts) {
      if (!isOfNetwork(cast)) continue;
      int& left = surplus[keyOf(cast, ofA)];
      if (ofA ? left >= 0 : left <= 0) continue;
      left += ofA ? 1 : -1;
      CastChange change{.added = !ofA,
                        .value = (ofA ? level.pathOfA : level.pathOfB).of(plan.graph().value(cast.value).name),
                        .from = cast.from,
                        .to = cast.to,
                        .bytes = cast.bytes,
                        .time = predicted(cast.predictedMs, cast.predictedHow),
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
