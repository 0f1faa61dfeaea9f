#include "session/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/name_hints.h"
#include "base/text.h"
#include "ir/graph.h"
#include "planning/body_help.h"
#include "planning/cover_json.h"
#include "planning/fused_node_facts.h"
#include "planning/patterns/match_pattern.h"
#include "planning/segment_borders.h"
#include "planning/types/pin_answers.h"
#include "session/artifact.h"
#include "session/documents/decisions_about.h"
#include "session/documents/report_json.h"
#include "verify/lost_weights.h"

namespace fusescope {
namespace {

/// The node to which a name on the command line refers: a node of the graph, a node of the file that no longer exists,
/// or a node in a body ("the_if/inner_exp"), whose holder is a node of the graph.
struct Found {
  std::string name;
  std::optional<NodeId> node;
  std::optional<BodyNode> inBody;
  std::vector<std::string> origins;
};

/// Returns the only node of a body that `text` names exactly; nullopt if there is none. Error: it names several nodes,
/// which the message lists.
Result<std::optional<BodyNode>> findInBodies(const Model& model, std::string_view text) {
  if (text.find('/') == std::string_view::npos) return std::optional<BodyNode>();
  const auto matched = PatternMatcher(model).match(text);
  if (!matched.ok()) return std::optional<BodyNode>();
  std::vector<BodyNode> exact;
  std::vector<std::string> names;
  for (const BodyNode& found : matched.value().inBodies) {
    if (!text.ends_with(found.place.name)) continue;  // only a pattern matches the node, not its name
    exact.push_back(found);
    names.push_back(found.place.text());
  }
  if (exact.size() > 1)
    return Diagnostic{.message = fmt::format("'{}' names {} nodes: {}", text, exact.size(), joined(names)),
                      .where = {.file = model.path, .node = std::string(text)},
                      .help = "Name the one that is meant together with its body, as in this list."};
  return exact.empty() ? std::nullopt : std::optional(exact.front());
}

/// Returns the node that "the_if/inner" names if one branch has replaced the_if.
std::optional<NodeId> findInTakenBranch(const Model& model, std::string_view path) {
  if (path.find('/') == std::string_view::npos) return {};
  const auto matched = PatternMatcher(model).match(path);
  if (!matched.ok() || matched.value().nodes.size() != 1 || !matched.value().inBodies.empty()) return {};
  return matched.value().nodes[0];
}

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
    if (!node) return Found{.name = origin->name, .origins = {origin->name}};
  }
  if (!node) node = findInTakenBranch(model, wanted);
  if (!node) {
    if (auto inBody = TRY(findInBodies(model, wanted)))
      return Found{.name = inBody->place.text(), .inBody = std::move(inBody)};
    std::vector<std::string> names;
    for (const auto& candidate : model.origins) names.push_back(candidate.name);
    return Diagnostic{.message = fmt::format("the model has no node '{}'", wanted),
                      .where = {.file = model.path, .node = std::string(wanted)},
                      .help = nearestInWords(wanted, names, "fusescope plan lists the nodes.")};
  }
  Found found{.name = plan.graph().node(*node).name, .node = node};
  for (const auto id : plan.graph().node(*node).origins) found.origins.push_back(model.origins[id.index].name);
  return found;
}

Json typeJson(DataType type) {
  return type == DataType::Undefined ? Json(nullptr) : Json(name(type));
}

/// Returns the answer to each directive that asks for a type of the subject.
Json answersJson(const Plan& plan, const Subject& subject) {
  Json list = Json::array();
  for (const DirectiveAnswer* answer : pinAnswersAbout(plan, subject)) {
    const Decision& decision = plan.decisions[answer->decision];
    list.push_back({{"by", answer->directive.text()},
                    {"answer", name(pinAnswerOf(answer->outcome))},
                    {"code", decision.code},
                    {"arguments", decision.arguments.toJson()},
                    {"message", answerText(plan, answer->decision)}});
  }
  return list;
}

Json togetherJson(const Plan& plan) {
  if (!plan.pinsTogether) return nullptr;
  Json json = plan.decisions[plan.pinsTogether->decision].arguments.toJson();
  json["message"] = answerText(plan, plan.pinsTogether->decision);
  return json;
}

/// Returns what import and normalisation did with a node of the file.
Json becameJson(const Plan& plan, const std::string& origin) {
  Json list = Json::array();
  for (const Decision& decision : plan.decisions) {
    const bool isBeforePlanning = decision.kind == DecisionKind::Import || decision.kind == DecisionKind::Normalise;
    if (isBeforePlanning && std::ranges::find(decision.subjects, Subject::node(origin)) != decision.subjects.end())
      list.push_back({{"code", decision.code}, {"by", decision.by.text()}, {"message", message(decision)}});
  }
  return list;
}

/// Describes the values that a node reads and writes, as they are in this plan.
Json edgesJson(const Plan& plan, const Node& node, const FusedNode& fused) {
  const auto edge = [&](ValueId value, const char* direction) {
    const auto inner = std::ranges::find(fused.innerEdges, value, &InnerEdge::value);
    return Json{{"value", plan.graph().value(value).name},
                {"direction", direction},
                {"real", inner == fused.innerEdges.end() || inner->real},
                {"type", name(plan.storedType(value))},
                {"held_wider", keptInWiderType(fused, value) != nullptr}};
  };
  Json list = Json::array();
  for (const ValueId value : node.inputs)
    if (value.valid() && !plan.graph().isConstant(value)) list.push_back(edge(value, "in"));
  for (const ValueId value : node.outputs)
    if (value.valid()) list.push_back(edge(value, "out"));
  return list;
}

/// Returns work, bytes and time of the kernel at the minimum, usual and maximum extents of the inputs; they are equal
/// if all extents are fixed.
Json costsJson(const FusedNode& fused) {
  const CostAt usual{.flops = fused.flops, .bytes = fused.bytes, .ms = fused.predictedMs};
  const CostRange range = fused.range.value_or(CostRange{usual, usual});
  const auto at = [](const CostAt& costs) {
    const auto count = [](const auto& value) { return value ? Json(*value) : Json(nullptr); };
    return Json{{"flops", count(costs.flops)}, {"bytes", count(costs.bytes)}, {"predicted_ms", count(costs.ms)}};
  };
  return {
      {"usual", at(usual)}, {"least", at(range.least)}, {"most", at(range.most)}, {"open", fused.range.has_value()}};
}

/// Returns the borders of the node's segment that the node's own kernel reads or writes.
Json bordersJson(const Plan& plan, const FusedNode& fused) {
  Json list = Json::array();
  const auto borders = segmentBorders(plan);
  for (const SegmentBorder& border : borders[fused.segment.index]) {
    const bool in = border.direction == SegmentBorder::Direction::In;
    const bool own = in ? std::ranges::find(fused.inputs, border.value) != fused.inputs.end()
                        : std::ranges::find(fused.outputs, border.value, &FusedOutput::value) != fused.outputs.end();
    if (own) list.push_back(toJson(plan, border));
  }
  return list;
}

Json helpJson(const Plan& plan, NodeId node, const BodyPath& path) {
  Json list = Json::array();
  for (const WhatIf& help : wouldHelpInBody(plan, node, path))
    list.push_back({{"change", help.change}, {"effect", help.effect}});
  return list;
}

/// Returns the nodes of the exported program from which torch made the node's origins, each once.
Json programNodesJson(const Model& model, const Node& node) {
  Json list = Json::array();
  for (const OriginId origin : node.origins)
    if (const std::string& name = model.origins[origin.index].programNode;
        !name.empty() && std::ranges::find(list, Json(name)) == list.end())
      list.push_back(name);
  return list;
}

/// Describes a node of the graph, and adds the subjects of decisions about it. `path` is the body of which `plan` is
/// the plan.
void explainNode(const Plan& plan, NodeId id, const BodyPath& path, Json& json, std::vector<Subject>& subjects) {
  const Node& node = plan.graph().node(id);
  subjects.push_back(Subject::node(node.name));
  for (const auto output : node.outputs)
    if (output.valid()) subjects.push_back(Subject::value(plan.graph().value(output).name));
  const auto grant = std::ranges::find(plan.precisionMap, id, &PrecisionGrant::node);
  if (grant != plan.precisionMap.end()) {
    json["asked"] = typeJson(grant->asked);
    json["granted"] = typeJson(grant->granted);
  }
  if (const std::string& source = plan.model->sourceOf(node); !source.empty()) json["source"] = split(source, '\n');
  json["program_nodes"] = programNodesJson(*plan.model, node);
  json["would_help"] = helpJson(plan, id, path);
  json["lost_weights"] = toJson(lostWeights(plan, std::span(&id, 1)));
  const FusedNode* fused = plan.fusedNodeOf(id);
  if (fused == nullptr) return;
  const std::string& segment = plan.segments[fused->segment.index].name;
  subjects.push_back(Subject::fusedNode(fused->name, fused->identity.hex()));
  subjects.push_back(Subject::segment(segment));
  json["fused_node"] = fused->name;
  json["segment"] = segment;
  json["predicted"] = isPrediction(plan, *fused);
  json["predicted_ms"] = optionalNumber(fused->predictedMs);
  json["predicted_how"] = fused->predictedMs ? Json(name(fused->predictedHow)) : Json(nullptr);
  if (fused->bodyTime) json["body_time"] = toJson(*fused->bodyTime);
  json["costs"] = costsJson(*fused);
  for (const DataType type : calculatedTypes(plan, *fused)) json["kernel_types"].push_back(name(type));
  json["edges"] = edgesJson(plan, node, *fused);
  json["borders"] = bordersJson(plan, *fused);
}

Result<Json> explained(const Plan& plan, std::string_view nodeName, const BodyPath& path);

/// Describes a node in a body by the plan of this body. `path` is the body of which `plan` is the plan.
Result<Json> explainInBody(const Plan& plan, const BodyNode& found, const Plan& body, const BodyPath& path) {
  const Node& holder = plan.graph().node(found.holder);
  const BodyPath step = BodyPath().into(holder, found.attribute());
  Json json = TRY(explained(body, found.rest, step.within(path)));
  json["node"] = found.place.text();
  json["body_of"] = json["body_of"].is_null() ? holder.name : step.of(json["body_of"].get<std::string>());
  json["attribute"] = found.attribute();
  json["answers"] = answersJson(plan, Subject::node(found.place));
  json["together"] = togetherJson(plan);
  return json;
}

/// `path` is the body of which `plan` is the plan.
Result<Json> explained(const Plan& plan, std::string_view nodeName, const BodyPath& path) {
  const auto found = TRY(findNode(plan, nodeName));
  if (found.inBody)
    if (const Plan* body = plan.bodyPlan(found.inBody->holder, found.inBody->attribute()))
      return explainInBody(plan, *found.inBody, *body, path);
  Json json = {{"format", "fusescope.explain"}, {"version", 1}};
  for (const char* key :
       {"segment", "fused_node", "asked", "granted", "body_of", "predicted_ms", "predicted_how", "body_time", "source"})
    json[key] = nullptr;
  for (const char* key : {"would_help", "became", "kernel_types", "edges", "borders", "lost_weights", "program_nodes"})
    json[key] = Json::array();
  json["node"] = found.name;
  json["origins"] = found.origins;
  json["predicted"] = false;
  json["costs"] = nullptr;
  std::vector<Subject> subjects;
  for (const auto& origin : found.origins) {
    subjects.push_back(Subject::node(origin));
    for (Json& entry : becameJson(plan, origin)) json["became"].push_back(std::move(entry));
  }
  if (found.node) explainNode(plan, *found.node, path, json, subjects);
  if (found.inBody) {
    const Node& holder = plan.graph().node(found.inBody->holder);
    json["body_of"] = holder.name;
    json["attribute"] = found.inBody->attribute();
    const Node* node = found.inBody->node;
    if (node != nullptr && !node->outputs.empty() && node->outputs[0].valid())
      json["granted"] = typeJson(found.inBody->body->value(node->outputs[0]).type.dtype);
    if (const auto* fused = plan.fusedNodeOf(holder.id)) {
      json["segment"] = plan.segments[fused->segment.index].name;
      json["fused_node"] = fused->name;
    }
    subjects = {Subject::node(found.inBody->place), Subject::node(holder.name)};
  }
  json["answers"] = answersJson(plan, found.inBody ? Subject::node(found.inBody->place) : Subject::node(found.name));
  json["together"] = togetherJson(plan);
  json["decisions"] = decisionsAbout(plan.decisions, subjects);
  return json;
}

}  // namespace

Result<Json> explainJson(const Plan& plan, std::string_view nodeName) {
  return explained(plan, nodeName, {});
}

}  // namespace fusescope
