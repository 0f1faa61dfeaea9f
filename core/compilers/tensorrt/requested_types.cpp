#include "compilers/tensorrt/requested_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "ir/graph.h"

namespace fusescope {
namespace {

bool isOfLayers(DataType type) {
  return type == DataType::F32 || type == DataType::F16 || type == DataType::BF16;
}

class LayerTypes {
 public:
  explicit LayerTypes(CompilerInput& network) : m_network(network), m_plan(*network.plan) {
    for (const auto& [number, nodes] : network.nodes)
      for (const NodeId node : nodes) m_numbers[node].push_back(number);
  }

  Result<Json> run() {
    m_network.pins.clear();
    for (const DataType type : m_plan.options.precisions) allow(type);
    for (const PrecisionGrant& grant : m_plan.precisionMap)
      if (grant.asked != DataType::Undefined) TRY(addPin(grant));
    TRY(addOutputs());
    allowCodes();
    Json json{{"typing", "layers"}, {"allowed", Json::array()}};
    for (const DataType type : m_allowed) json["allowed"].push_back(name(type));
    if (m_strictness) json["constraints"] = *m_strictness == Strictness::Obey ? "obey" : "prefer";
    if (!m_precisions.empty()) json["precisions"] = std::move(m_precisions);
    if (!m_outputs.empty()) json["output_types"] = std::move(m_outputs);
    return json;
  }

 private:
  void allow(DataType type) {
    if (type == DataType::F16 || type == DataType::BF16) m_allowed.insert(type);
  }

  /// Sets the option without which TensorRT does not accept codes of int8 in a network.
  void allowCodes() {
    const auto& nodes = m_network.file.graph.nodes;
    if (std::ranges::any_of(nodes, [](const onnxlib::FileNode& node) { return node.op == "QuantizeLinear"; }))
      m_allowed.insert(DataType::I8);
  }

  Status addPin(const PrecisionGrant& grant) {
    const Directive* directive = findDirective(m_plan, grant.by);
    const bool isGranted = grant.asked == grant.granted && isOfLayers(grant.asked);
    LoweredPin pin{.node = grant.node, .type = grant.asked, .isExpressible = isGranted, .how = {}};
    if (!isGranted) {
      pin.how = isOfLayers(grant.asked)
                    ? fmt::format("The plan does not give it the type {}.", name(grant.asked))
                    : fmt::format("TensorRT's layer precisions cannot be {}: they can be f32, f16 and bf16.",
                                  name(grant.asked));
    } else {
      if (directive != nullptr) TRY(beAsStrict(*directive));
      allow(grant.asked);
      for (const std::string& number : m_numbers[grant.node]) m_precisions[number] = name(grant.asked);
      pin.how = fmt::format("The layers that the parser makes of it are set to {}.", name(grant.asked));
    }
    m_network.pins.push_back(std::move(pin));
    return Done{};
  }

  Status addOutputs() {
    for (const DirectiveAnswer& answer : m_plan.answers) {
      const Directive* directive =
          answer.outcome == DirectiveOutcome::Stored ? findDirective(m_plan, answer.directive) : nullptr;
      if (directive == nullptr || !isOfLayers(directive->type)) continue;
      TRY(beAsStrict(*directive));
      allow(directive->type);
      for (const Subject& subject : answer.about)
        if (const auto node = subject.nodeIn(m_plan.graph()))
          for (const std::string& number : m_numbers[*node]) m_outputs[number] = name(directive->type);
    }
    return Done{};
  }

  Status beAsStrict(const Directive& directive) {
    if (!m_strictness) m_strictness = directive.strictness;
    if (*m_strictness == directive.strictness) return Done{};
    return Diagnostic{.message = "some pins are marked obey and others prefer; TensorRT has one flag for all",
                      .where = {.attribute = "--pin"},
                      .help = "Mark all of them obey, or all prefer."};
  }

  CompilerInput& m_network;
  const Plan& m_plan;
  std::map<NodeId, std::vector<std::string>> m_numbers;
  std::set<DataType> m_allowed;
  std::optional<Strictness> m_strictness;
  Json m_precisions = Json::object(), m_outputs = Json::object();
};

}  // namespace

Result<Json> requestedTypes(CompilerInput& network) {
  if (network.plan->target.stronglyTyped) return Json{{"typing", "strong"}};
  return LayerTypes(network).run();
}

}  // namespace fusescope
