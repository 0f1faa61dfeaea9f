#include <algorithm>

#include "planning/fusion/rules.h"
#include "planning/steps.h"

namespace fusescope {

std::vector<std::string> fusionRuleNames() {
  std::vector<std::string> names;
  const auto add = [&](std::string_view name) {
    if (std::ranges::find(names, name) == names.end()) names.emplace_back(name);
  };
  for (const FusionRule* rule : fusionRules()) add(rule->name);
  for (const FusionRule* rule : fusionRules()) std::ranges::for_each(rule->parts, add);
  return names;
}

Fusion fuseNodes(const Graph& graph, const Partitioning& partition, std::span<const NodeId> scope,
                 const FusionLimits& limits) {
  RegionBuilder builder(graph, partition, scope, limits);
  for (const FusionRule* rule : fusionRules()) rule->apply(builder);
  // If there are directives, they are what prevents further merges.
  if (limits.directives == nullptr) explainLeftovers(builder);
  return builder.finish();
}

}  // namespace fusescope
