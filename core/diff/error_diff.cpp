#include <algorithm>

#include "base/text.h"
#include "diff/diff_parts.h"
#include "ir/graph.h"

namespace fusescope {

namespace {

std::optional<double> larger(const std::optional<double>& one, const std::optional<double>& other) {
  return one && other ? std::optional(std::max(*one, *other)) : std::nullopt;
}

/// Returns the largest error of some fused nodes; nullopt if one of them is unknown.
std::optional<DiffError> errorOf(const Cover& plan, const std::vector<std::uint32_t>& fused, const DiffErrors& errors) {
  std::optional<DiffError> worst;
  for (const std::uint32_t each : fused) {
    const auto known = errors.fusedNodes.find(plan.fusedNodes[each].identity);
    if (known == errors.fusedNodes.end()) return std::nullopt;
    const DiffError& error = known->second;
    worst = worst ? DiffError{larger(worst->carried, error.carried), larger(worst->local, error.local)} : error;
  }
  return worst;
}

/// Adds `change` with these errors if they are not equal.
void addIfChanged(ErrorChange change, const DiffError& a, const DiffError& b, PlanDiff& diff) {
  if (!a.carried || !b.carried) return;
  change.a = *a.carried;
  change.b = *b.carried;
  if (a.local && b.local) {
    change.localOfA = a.local;
    change.localOfB = b.local;
  }
  if (change.a != change.b || change.localOfA != change.localOfB) diff.errors.push_back(std::move(change));
}

std::string namesOf(const std::vector<CoveringNode>& nodes) {
  std::vector<std::string> names;
  for (const CoveringNode& node : nodes) names.push_back(node.place.text());
  return joined(names, " | ");
}

}  // namespace

std::pair<const DiffErrors*, const DiffErrors*> comparableErrors(const DiffInput& a, const DiffInput& b) {
  if (a.errors.empty() || b.errors.empty()) return {nullptr, nullptr};
  for (auto ofB = b.errors.rbegin(); ofB != b.errors.rend(); ++ofB)
    for (auto ofA = a.errors.rbegin(); ofA != a.errors.rend(); ++ofA)
      if (ofA->how == ofB->how) return {&*ofA, &*ofB};
  return {&a.errors.back(), &b.errors.back()};
}

void addErrorChanges(const PlanLevel& level, const DiffErrors& a, const DiffErrors& b, PlanDiff& diff) {
  const Graph& graph = level.a->graph();
  for (const ValueId value : graph.allValues()) {
    const auto ofA = a.values.find(graph.value(value).name);
    const ValueId other = level.match.valueOfB[value.index];
    if (ofA == a.values.end() || !other.valid()) continue;
    const auto ofB = b.values.find(level.b->graph().value(other).name);
    if (ofB == b.values.end()) continue;
    addIfChanged({.name = ofA->first, .isOutput = graph.isOutput(value)}, ofA->second, ofB->second, diff);
  }
  for (const SetGroup& group : fusedGroups(level)) {
    const auto ofA = errorOf(*level.a, group.a, a), ofB = errorOf(*level.b, group.b, b);
    if (!ofA || !ofB) continue;
    ErrorChange change;
    for (const std::uint32_t fused : group.a) change.ofA.push_back(coveringNode(level, true, fused));
    for (const std::uint32_t fused : group.b) change.ofB.push_back(coveringNode(level, false, fused));
    const std::string namesOfA = namesOf(change.ofA), namesOfB = namesOf(change.ofB);
    change.name = namesOfA == namesOfB ? namesOfA : namesOfA + " / " + namesOfB;
    addIfChanged(std::move(change), *ofA, *ofB, diff);
  }
}

}  // namespace fusescope
