#include "session/compare_engine_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "planning/cover_json.h"
#include "planning/read_back_plan.h"
#include "session/run_comparison.h"

namespace fusescope {
namespace {

/// The sum of what is known; nothing: of none of them is a time known.
template <class Nodes, class TimeOf>
std::optional<double> sumOfKnown(const Nodes& nodes, TimeOf timeOf) {
  std::optional<double> sum;
  for (const auto& node : nodes)
    if (const std::optional<double> ms = timeOf(node)) sum = sum.value_or(0) + *ms;
  return sum;
}

EngineFilesSide sideOf(const ReadBackPlan& made) {
  const Placement& placement = *made.placement;
  EngineFilesSide side{.compiler = made.compiler.name + " " + made.compiler.version,
                       .device = placement.device,
                       .times = placement.times,
                       .latencyMs = placement.latencyMs};
  const auto timeWhere = [&](bool holdsNodes) {
    return sumOfKnown(made.fusedNodes, [&](const FusedNode& fused) {
      return fused.nodes.empty() != holdsNodes ? made.kernels[fused.id.index].ms : std::nullopt;
    });
  };
  side.kernelsMs = timeWhere(true);
  side.conversionsMs = timeWhere(false);
  side.conversions = std::ranges::count_if(made.fusedNodes, [](const FusedNode& fused) { return fused.nodes.empty(); });
  return side;
}

std::string whyNotRanked(const EngineFilesSide& a, const EngineFilesSide& b) {
  if (a.device.empty() || b.device.empty()) return "the files do not say on which device both were measured";
  if (a.device != b.device) return fmt::format("A was measured on {}, B on {}", a.device, b.device);
  if (a.times.substr(0, a.times.find(' ')) != b.times.substr(0, b.times.find(' ')))
    return fmt::format("times of A are {}, those of B {}", a.times, b.times);
  return {};
}

Json sideJson(const EngineFilesSide& side) {
  const auto textOrNone = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  return {{"compiler", side.compiler},
          {"device", textOrNone(side.device)},
          {"times", textOrNone(side.times)},
          {"kernels_ms", jsonOrNull(side.kernelsMs)},
          {"conversions_ms", jsonOrNull(side.conversionsMs)},
          {"conversions", side.conversions},
          {"latency_ms", jsonOrNull(side.latencyMs)}};
}

}  // namespace

bool isOfEngineFiles(const Artifact& artifact) {
  return artifact.made != nullptr && artifact.made->placement.has_value();
}

EngineFilesComparison compareEngineFiles(const ReadBackPlan& a, const ReadBackPlan& b) {
  EngineFilesComparison comparison{.a = sideOf(a), .b = sideOf(b)};
  const auto timeOf = [](const ReadBackPlan& made) {
    return [&made](const CoveringNode& node) {
      return node.place.bodies.isNetwork() ? made.kernels[node.id.index].ms : std::nullopt;
    };
  };
  for (CompareGroup& group : compareGroups(a, b)) {
    const auto holdsNone = [](const CoveringNode& node) { return node.nodes == 0; };
    if (std::ranges::all_of(group.a, holdsNone) && std::ranges::all_of(group.b, holdsNone)) continue;
    group.aMs = sumOfKnown(group.a, timeOf(a));
    group.bMs = sumOfKnown(group.b, timeOf(b));
    if (group.aMs && group.bMs) group.deltaMs = *group.bMs - *group.aMs;
    comparison.groups.push_back(std::move(group));
  }
  comparison.notRanked = whyNotRanked(comparison.a, comparison.b);
  return comparison;
}

Json toJson(const EngineFilesComparison& comparison) {
  Json groups = Json::array();
  for (const CompareGroup& group : comparison.groups) groups.push_back(toJson(keptGroup(group)));
  return {{"read_from_files", true},
          {"a", sideJson(comparison.a)},
          {"b", sideJson(comparison.b)},
          {"groups", std::move(groups)},
          {"not_ranked", comparison.notRanked.empty() ? Json(nullptr) : Json(comparison.notRanked)}};
}

}  // namespace fusescope
