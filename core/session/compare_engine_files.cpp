#include "session/compare_engine_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "frontends/tensorrt/layer_network.h"
#include "ir/graph.h"
#include "planning/cover_json.h"
#include "planning/read_back/read_back_plan.h"
#include "session/documents/compare_report.h"
#include "session/import_engine.h"
#include "session/layer_match.h"
#include "session/runs/run_comparison.h"

namespace fusescope {
namespace {

/// Returns the sum of the known times; nullopt if no time is known.
template <class Nodes, class TimeOf>
std::optional<double> sumOfKnown(const Nodes& nodes, TimeOf timeOf) {
  std::optional<double> sum;
  for (const auto& node : nodes)
    if (const std::optional<double> ms = timeOf(node)) sum = sum.value_or(0) + *ms;
  return sum;
}

bool onlyConverts(const ReadBackPlan& made, const FusedNode& fused) {
  return fused.nodes.empty() || made.kernels[fused.id.index].converts;
}

std::string inputsText(const ReadBackPlan& made) {
  std::string text;
  for (const InputSpec& spec : made.inputSpecs) {
    text += (text.empty() ? "" : ", ") + spec.name + " ";
    for (std::size_t i = 0; i < spec.opt.size(); ++i) text += fmt::format("{}{}", i == 0 ? "" : "x", spec.opt[i]);
  }
  return text;
}

EngineFilesSide sideOf(const ReadBackPlan& made) {
  const Placement& placement = *made.placement;
  EngineFilesSide side{.compiler = made.compiler.name + " " + made.compiler.version,
                       .device = placement.device,
                       .times = placement.times,
                       .latencyMs = placement.latencyMs,
                       .hasNetwork = !isOfEngineLayers(*made.model),
                       .inputs = inputsText(made)};
  const auto timeWhere = [&](bool converts) {
    return sumOfKnown(made.fusedNodes, [&](const FusedNode& fused) {
      return onlyConverts(made, fused) == converts ? made.kernels[fused.id.index].ms : std::nullopt;
    });
  };
  side.kernelsMs = timeWhere(false);
  side.conversionsMs = timeWhere(true);
  side.conversions =
      std::ranges::count_if(made.fusedNodes, [&](const FusedNode& fused) { return onlyConverts(made, fused); });
  return side;
}

/// Kernels that are in no group of `match` form groups of their own.
std::vector<CompareGroup> groupsByLayers(const ReadBackPlan& a, const ReadBackPlan& b, const LayerMatch& match) {
  std::vector<CompareGroup> groups;
  std::set<std::uint32_t> ofA, ofB;
  const auto add = [](const ReadBackPlan& made, std::uint32_t kernel, std::vector<CoveringNode>& into,
                      std::vector<std::string>& origins) {
    const FusedNode& fused = made.fusedNodes[kernel];
    into.push_back({fused.id, NetworkPlace{{}, fused.name}, fused.identity, fused.nodes.size()});
    for (const OriginId origin : fused.origins) origins.push_back(made.model->origins[origin.index].name);
  };
  for (const SetGroup& set : match.groups) {
    CompareGroup group;
    group.same = set.same;
    std::vector<std::string> others;
    for (const std::uint32_t kernel : set.a) add(a, kernel, group.a, group.origins);
    for (const std::uint32_t kernel : set.b) add(b, kernel, group.b, set.a.empty() ? group.origins : others);
    ofA.insert(set.a.begin(), set.a.end());
    ofB.insert(set.b.begin(), set.b.end());
    groups.push_back(std::move(group));
  }
  const auto addAlone = [&](const ReadBackPlan& made, std::vector<CoveringNode> CompareGroup::*side,
                            const std::set<std::uint32_t>& grouped) {
    for (const FusedNode& fused : made.fusedNodes) {
      if (grouped.contains(fused.id.index)) continue;
      CompareGroup& group = groups.emplace_back();
      add(made, fused.id.index, group.*side, group.origins);
    }
  };
  addAlone(a, &CompareGroup::a, ofA);
  addAlone(b, &CompareGroup::b, ofB);
  return groups;
}

std::string matchText(const LayerMatch& match, const EngineFilesSide& a, const EngineFilesSide& b) {
  const bool haveNetworks = a.hasNetwork && b.hasNetwork;
  const std::string why = haveNetworks   ? "the nodes of the two networks could not be matched"
                          : a.hasNetwork ? "B has no network"
                          : b.hasNetwork ? "A has no network"
                                         : "neither has a network";
  std::string text = fmt::format(
      "{}: kernels were compared by the names and types of their layers, {} by the names of nodes in them and {} by "
      "their position among the others; {} of A and {} of B have no counterpart",
      why, counted(match.byNames, "group"), match.byStructure, match.onlyA, match.onlyB);
  if (match.namesContradict)
    text += "; names that both have belong to layers of different extents, so they were not used";
  return text;
}

std::string whyNotRanked(const EngineFilesSide& a, const EngineFilesSide& b, bool sameExtents) {
  if (!sameExtents) return fmt::format("A was built for {}, B for {}", a.inputs, b.inputs);
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
          {"latency_ms", jsonOrNull(side.latencyMs)},
          {"has_network", side.hasNetwork},
          {"inputs", side.inputs}};
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
  std::vector<CompareGroup> groups;
  const bool haveNetworks = comparison.a.hasNetwork && comparison.b.hasNetwork;
  if (haveNetworks && areAlike(*a.model, *b.model)) {
    groups = compareGroups(a, b);
    comparison.matchedBy = a.model->contentHash == b.model->contentHash
                               ? "both are engines of one network: groups cover the same nodes of it"
                               : "the networks were matched node by node: groups cover nodes that are counterparts";
  } else {
    const LayerMatch match = matchLayers(a, b, haveNetworks ? LayerWords::Structure : LayerWords::Names);
    groups = groupsByLayers(a, b, match);
    comparison.matchedBy = matchText(match, comparison.a, comparison.b);
  }
  EngineFilesTotals& totals = comparison.totals;
  const auto add = [](std::optional<double>& sum, const std::optional<double>& ms) {
    if (ms) sum = sum.value_or(0) + *ms;
  };
  for (CompareGroup& group : groups) {
    const auto converts = [](const ReadBackPlan& made) {
      return [&made](const CoveringNode& node) { return onlyConverts(made, made.fusedNodes[node.id.index]); };
    };
    const bool isOfNetwork = group.body.isNetwork();
    if (isOfNetwork && std::ranges::all_of(group.a, converts(a)) && std::ranges::all_of(group.b, converts(b))) continue;
    group.aMs = sumOfKnown(group.a, timeOf(a));
    group.bMs = sumOfKnown(group.b, timeOf(b));
    if (group.aMs && group.bMs) group.deltaMs = *group.bMs - *group.aMs;
    add(group.deltaMs ? totals.aMs : totals.onlyAMs, group.aMs);
    add(group.deltaMs ? totals.bMs : totals.onlyBMs, group.bMs);
    comparison.groups.push_back(std::move(group));
  }
  comparison.notRanked = whyNotRanked(comparison.a, comparison.b, haveSameExtents(a, b));
  return comparison;
}

Json toJson(const EngineFilesComparison& comparison) {
  Json groups = Json::array();
  for (const CompareGroup& group : comparison.groups) groups.push_back(toJson(keptGroup(group)));
  return {{"format", "fusescope.compare"},
          {"version", 1},
          {"read_from_files", true},
          {"a", sideJson(comparison.a)},
          {"b", sideJson(comparison.b)},
          {"matched_by", comparison.matchedBy},
          {"groups", std::move(groups)},
          {"totals",
           {{"a_ms", jsonOrNull(comparison.totals.aMs)},
            {"b_ms", jsonOrNull(comparison.totals.bMs)},
            {"only_a_ms", jsonOrNull(comparison.totals.onlyAMs)},
            {"only_b_ms", jsonOrNull(comparison.totals.onlyBMs)}}},
          {"not_ranked", comparison.notRanked.empty() ? Json(nullptr) : Json(comparison.notRanked)}};
}

}  // namespace fusescope
