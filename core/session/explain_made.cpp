#include <algorithm>

#include "ir/graph.h"
#include "planning/segment_borders.h"
#include "session/artifact.h"
#include "session/documents/decisions_about.h"
#include "session/engine_prices.h"
#include "session/explain.h"

namespace fusescope {
namespace {

std::string fateInWords(const ReadBackPlan& made, NodeId node) {
  switch (made.fateOf(node)) {
    case Fate::Kernel:
      return made.kernelsOf(node).size() == 1 ? "One kernel calculates it." : "Several kernels calculate it.";
    case Fate::Folded:
      return "It was calculated when the network was compiled.";
    case Fate::Removed:
      return "It was removed, because no node needs its result.";
    case Fate::View:
      return "It has no kernel: its result is a view of the memory of its input.";
    case Fate::Merged:
      return "It was merged with an equal node.";
    case Fate::Fallback:
      return "The compiler does not run it: our own engine does.";
    case Fate::NotDisclosed:
      break;
  }
  return "The compiler does not disclose what became of it.";
}

Json kernelJson(const ReadBackPlan& made, FusedNodeId id, NodeId node) {
  const FusedNode& fused = made.fusedNodes[id.index];
  const ReadBackPlan::Kernel& kernel = made.kernels[id.index];
  const auto at = static_cast<std::size_t>(std::ranges::find(fused.nodes, node) - fused.nodes.begin());
  return {{"name", fused.name},
          {"kind", fused.kind.empty() ? Json(nullptr) : Json(fused.kind)},
          {"certainty", kernel.isOurs ? "ours" : std::string(name(kernel.certainty[at]))},
          {"compute", fused.compute == DataType::Undefined ? Json(nullptr) : Json(name(fused.compute))},
          {"region", kernel.region.empty() ? Json(nullptr) : Json(kernel.region)},
          {"ms", kernel.ms ? Json(*kernel.ms) : Json(nullptr)}};
}

Json madeJson(const ReadBackPlan& made, NodeId node) {
  Json json = {{"compiler", made.compiler.name},
               {"version", made.compiler.version},
               {"fate", name(made.fateOf(node))},
               {"words", fateInWords(made, node)},
               {"kernels", Json::array()},
               {"pin", nullptr},
               {"support", nullptr}};
  for (const FusedNodeId kernel : made.kernelsOf(node)) json["kernels"].push_back(kernelJson(made, kernel, node));
  const auto pin = std::ranges::find(made.pins, node, &ReadBackPin::node);
  if (pin != made.pins.end()) json["pin"] = toJson(made.graph(), *pin);
  const auto support = std::ranges::find(made.support, made.graph().node(node).name, &NodeSupport::node);
  if (support != made.support.end()) json["support"] = toJson(*support);
  return json;
}

/// Returns the subjects of decisions about a node: the node, its outputs, and the kernels that contain it, both the
/// planned and the made ones.
std::vector<Subject> subjectsOf(const ReadBackPlan& made, NodeId id) {
  const Node& node = made.graph().node(id);
  std::vector<Subject> subjects{Subject::node(node.name)};
  for (const OriginId origin : node.origins) subjects.push_back(Subject::node(made.model->origins[origin.index].name));
  for (const ValueId output : node.outputs)
    if (output.valid()) subjects.push_back(Subject::value(made.graph().value(output).name));
  const auto add = [&](const FusedNode& fused) {
    subjects.push_back(Subject::fusedNode(fused.name, fused.identity.hex()));
  };
  if (const FusedNode* planned = made.requested->fusedNodeOf(id)) {
    add(*planned);
    subjects.push_back(Subject::segment(made.requested->segments[planned->segment.index].name));
  }
  for (const FusedNodeId kernel : made.kernelsOf(id)) add(made.fusedNodes[kernel.index]);
  return subjects;
}

/// Returns where the predicted time of the node's kernel was measured; null if no time is predicted, or if its source
/// is no longer known.
Json priceFromJson(const Artifact& artifact, const Json& explained) {
  const Plan& plan = *artifact.plan;
  const auto node = plan.graph().findNode(explained.at("node").get<std::string>());
  const FusedNode* fused = node ? plan.fusedNodeOf(*node) : nullptr;
  if (fused == nullptr || !fused->predictedMs) return nullptr;
  const auto prices = pricesOf(plan, artifact.backend);
  if (prices == nullptr) return nullptr;
  const Price price = prices->kernels(plan)[fused->id.index];
  return price.ms == fused->predictedMs && !price.from.empty() ? Json(price.from) : Json(nullptr);
}

Json madeType(DataType type) {
  return type == DataType::Undefined ? Json(nullptr) : Json(name(type));
}

/// Returns the borders of the network's segments that the kernels of `node` read or write. For a node without a kernel,
/// returns those that it reads or writes itself.
Json bordersMade(const ReadBackPlan& made, NodeId id) {
  std::vector<ValueId> moved;
  for (const FusedNodeId kernel : made.kernelsOf(id)) {
    const FusedNode& fused = made.fusedNodes[kernel.index];
    moved.insert(moved.end(), fused.inputs.begin(), fused.inputs.end());
    for (const FusedOutput& output : fused.outputs) moved.push_back(output.value);
  }
  if (const Node& node = made.graph().node(id); moved.empty()) {
    moved.assign(node.inputs.begin(), node.inputs.end());
    moved.insert(moved.end(), node.outputs.begin(), node.outputs.end());
  }
  Json list = Json::array();
  for (const auto& segment : segmentBorders(made))
    for (const SegmentBorder& border : segment)
      if (std::ranges::find(moved, border.value) != moved.end()) list.push_back(toJson(made, border));
  return list;
}

/// Replaces the planned types and places by those that the compiler made; null: not disclosed.
void addMadeTypes(const ReadBackPlan& made, NodeId node, Json& json) {
  const auto grant = std::ranges::find(made.precisionMap, node, &PrecisionGrant::node);
  json["granted"] = grant == made.precisionMap.end() ? Json(nullptr) : madeType(grant->granted);
  const FusedNode* kernel = made.fusedNodeOf(node);
  json["borders"] = bordersMade(made, node);
  json["kernel_types"] = Json::array();
  if (kernel != nullptr && kernel->compute != DataType::Undefined)
    json["kernel_types"].push_back(name(kernel->compute));
  for (Json& edge : json["edges"]) {
    const auto value = made.graph().findValue(edge.at("value").get<std::string>());
    if (!value) continue;
    edge["type"] = madeType(made.storedType(*value));
    edge["held_wider"] = false;
    if (kernel != nullptr)
      edge["real"] = std::ranges::find(kernel->inputs, *value) != kernel->inputs.end() ||
                     std::ranges::find(kernel->outputs, *value, &FusedOutput::value) != kernel->outputs.end();
  }
}

}  // namespace

Result<Json> explainJson(const Artifact& artifact, std::string_view nodeName) {
  Json json = TRY(explainJson(*artifact.plan, nodeName));
  json["made"] = nullptr;
  json["price_from"] = priceFromJson(artifact, json);
  if (artifact.made == nullptr) return json;
  const auto node = artifact.plan->graph().findNode(json.at("node").get<std::string>());
  if (!node) return json;
  json["made"] = madeJson(*artifact.made, *node);
  const auto isAnswered = [&](const Decision& decision) { return isPredictionAnswered(*artifact.made, decision); };
  json["decisions"] = decisionsAbout(artifact.made->decisions, subjectsOf(*artifact.made, *node), isAnswered);
  if (artifact.made->fateOf(*node) != Fate::Fallback) addMadeTypes(*artifact.made, *node, json);
  return json;
}

}  // namespace fusescope
