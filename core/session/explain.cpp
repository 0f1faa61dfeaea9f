#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "session/report_json.h"
#include "session/session.h"

namespace fusescope {
namespace {

/// What a name of the command line stands for: a node of the graph, or a node of the file that is no more.
struct Found {
  std::optional<NodeId> node;
  std::vector<std::string> origins;
};

Result<Found> findNode(const Plan& plan, std::string_view wanted) {
  const auto& model = *plan.model;
  std::optional<NodeId> node = plan.graph().findNode(wanted);
  const auto origin = std::ranges::find(model.origins, wanted, &Origin::name);
  if (!node && origin != model.origins.end()) {
    const OriginId id(static_cast<std::size_t>(origin - model.origins.begin()));
    for (const auto candidate : plan.graph().order()) {
      if (std::ranges::find(plan.graph().node(candidate).origins, id) != plan.graph().node(candidate).origins.end()) {
        node = candidate;
        break;
      }
    }
    if (!node) return Found{.node = {}, .origins = {origin->name}};
  }
  if (!node) {
    std::vector<std::string> names;
    for (const auto& candidate : model.origins) names.push_back(candidate.name);
    return Diagnostic{.message = fmt::format("the model has no node '{}'", wanted),
                      .where = {.file = model.path, .node = std::string(wanted)},
                      .help = fmt::format("The nearest names are {}.", joined(nearestNames(wanted, names)))};
  }
  Found found{.node = node};
  for (const auto id : plan.graph().node(*node).origins) found.origins.push_back(model.origins[id.index].name);
  return found;
}

/// Decisions that name one of `subjects`, with everything their evidence points at; evidence is renumbered to match.
Json decisionsAbout(const Plan& plan, const std::vector<Subject>& subjects) {
  std::set<std::uint32_t> wanted;
  std::vector<std::uint32_t> pending;
  for (std::size_t i = 0; i < plan.decisions.size(); ++i) {
    const auto& about = plan.decisions[i].subjects;
    const auto named = [&](const Subject& subject) { return std::ranges::find(about, subject) != about.end(); };
    if (std::ranges::any_of(subjects, named)) pending.push_back(static_cast<std::uint32_t>(i));
  }
  while (!pending.empty()) {
    const auto index = pending.back();
    pending.pop_back();
    if (index >= plan.decisions.size() || !wanted.insert(index).second) continue;
    const auto& evidence = plan.decisions[index].evidence;
    pending.insert(pending.end(), evidence.begin(), evidence.end());
  }
  const std::vector<std::uint32_t> order(wanted.begin(), wanted.end());
  Json list = Json::array();
  for (const auto index : order) {
    Decision decision = plan.decisions[index];
    for (auto& evidence : decision.evidence) {
      evidence = static_cast<std::uint32_t>(std::ranges::lower_bound(order, evidence) - order.begin());
    }
    list.push_back(toJson(decision));
  }
  return list;
}

Json typeJson(DataType type) {
  return type == DataType::Undefined ? Json(nullptr) : Json(name(type));
}

}  // namespace

Result<Json> explainJson(const Plan& plan, std::string_view nodeName) {
  const auto found = TRY(findNode(plan, nodeName));
  Json json = {{"format", "fusescope.explain"}, {"version", 1}};
  std::vector<Subject> subjects;
  for (const auto& origin : found.origins) subjects.push_back(Subject::node(origin));
  json["node"] = found.node ? plan.graph().node(*found.node).name : std::string(nodeName);
  json["origins"] = found.origins;
  json["segment"] = nullptr;
  json["fused_node"] = nullptr;
  json["asked"] = nullptr;
  json["granted"] = nullptr;
  json["would_help"] = Json::array();
  if (found.node) {
    const auto& node = plan.graph().node(*found.node);
    subjects.push_back(Subject::node(node.name));
    for (const auto output : node.outputs) {
      if (output.valid()) subjects.push_back(Subject::value(plan.graph().value(output).name));
    }
    if (const auto* fused = plan.fusedNodeOf(*found.node)) {
      json["fused_node"] = fused->name;
      json["segment"] = plan.segments[fused->segment.index].name;
      subjects.push_back(Subject::fusedNode(fused->name));
      subjects.push_back(Subject::segment(plan.segments[fused->segment.index].name));
    }
    const auto grant = std::ranges::find(plan.precisionMap, *found.node, &PrecisionGrant::node);
    if (grant != plan.precisionMap.end()) {
      json["asked"] = typeJson(grant->asked);
      json["granted"] = typeJson(grant->granted);
    }
    for (const auto& help : wouldHelp(plan, *found.node)) {
      json["would_help"].push_back({{"change", help.change}, {"effect", help.effect}});
    }
  }
  json["decisions"] = decisionsAbout(plan, subjects);
  return json;
}

}  // namespace fusescope
