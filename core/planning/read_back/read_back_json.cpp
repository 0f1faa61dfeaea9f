#include <map>
#include <set>

#include "ir/graph.h"
#include "planning/cover_json.h"
#include "planning/plan_json.h"
#include "planning/read_back/compare_prediction.h"
#include "planning/read_back/read_back_plan.h"

namespace fusescope {
namespace {

Json textOrNull(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json typeOrNull(DataType type) {
  return type == DataType::Undefined ? Json(nullptr) : Json(toText(type));
}

Json compilerJson(const CompilerIdentity& compiler) {
  return {{"name", compiler.name},
          {"version", compiler.version},
          {"environment", compiler.environment},
          {"options", Json(compiler.options)}};
}

/// Writes the keys that only read-back plans have.
class ReadBackWriter {
 public:
  ReadBackWriter(const ReadBackPlan& plan, const CoverWriter& names)
      : m_plan(plan), m_graph(plan.graph()), m_names(names) {}

  void add(Json& json) const {
    json["compiler"] = compilerJson(m_plan.compiler);
    json["kernels"] = jsonList(m_plan.fusedNodes, [&](const FusedNode& fused) { return kernelJson(fused); });
    json["regions"] = regionsJson();
    json["nodes"] = jsonList(m_graph.order(), [&](NodeId node) { return nodeJson(node); });
    json["conversions"] =
        jsonList(m_plan.conversions, [&](const ReadBackConversion& conversion) { return conversionJson(conversion); });
    json["pins"] = jsonList(m_plan.pins, [&](const ReadBackPin& pin) { return pinJson(pin); });
    json["support"] = jsonList(m_plan.support, [](const NodeSupport& support) { return toJson(support); });
    json["agreement"] = toJson(m_plan.agreement);
    if (m_plan.placement) json["placement"] = placementJson(*m_plan.placement);
    json["asked"] = toJson(*m_plan.requested);
  }

 private:
  Json valueJson(const KernelValue& value) const {
    return {{"value", m_names.valueName(value.value)},
            {"type", typeOrNull(value.type)},
            {"format", textOrNull(value.format)}};
  }

  Json kernelJson(const FusedNode& fused) const {
    const ReadBackPlan::Kernel& kernel = m_plan.kernels[fused.id.index];
    const auto value = [&](const KernelValue& moved) { return valueJson(moved); };
    Json nodes = Json::array();
    for (std::size_t i = 0; i < fused.nodes.size(); ++i)
      nodes.push_back({{"node", m_names.nodeName(fused.nodes[i])}, {"certainty", name(kernel.certainty[i])}});
    return {{"id", fused.id.index},
            {"name", fused.name},
            {"kind", fused.kind},
            {"region", textOrNull(kernel.region)},
            {"nodes", std::move(nodes)},
            {"inputs", jsonList(kernel.inputs, value)},
            {"outputs", jsonList(kernel.outputs, value)},
            {"compute", typeOrNull(fused.compute)},
            {"once", kernel.once},
            {"converts", kernel.converts},
            {"ours", kernel.isOurs},
            {"optimiser", textOrNull(kernel.optimiser)},
            {"ms", jsonOrNull(kernel.ms)}};
  }

  /// Returns the regions in the order of their first kernels. A region is identified by its name.
  Json regionsJson() const {
    std::vector<std::size_t> position(m_graph.nodeIdLimit());
    for (std::size_t i = 0; i < m_graph.order().size(); ++i) position[m_graph.order()[i].index] = i;
    std::vector<std::string> order;
    std::map<std::string, std::set<std::size_t>> positions;
    for (const FusedNode& fused : m_plan.fusedNodes) {
      const std::string& region = m_plan.kernels[fused.id.index].region;
      if (region.empty()) continue;
      const auto [entry, isNew] = positions.try_emplace(region);
      if (isNew) order.push_back(region);
      for (const NodeId node : fused.nodes) entry->second.insert(position[node.index]);
    }
    return jsonList(order, [&](const std::string& region) {
      Json nodes = Json::array();
      for (const std::size_t i : positions.at(region)) nodes.push_back(m_names.nodeName(m_graph.order()[i]));
      return Json{{"id", region}, {"name", region}, {"nodes", std::move(nodes)}};
    });
  }

  Json nodeJson(NodeId node) const {
    return {{"node", m_names.nodeName(node)},
            {"fate", name(m_plan.fateOf(node))},
            {"kernels", jsonList(m_plan.kernelsOf(node), [](FusedNodeId id) { return Json(id.index); })}};
  }

  Json conversionJson(const ReadBackConversion& conversion) const {
    return {{"value", m_names.valueName(conversion.value)},
            {"from", conversion.from},
            {"to", conversion.to},
            {"kind", conversion.isCast ? "cast" : "reformat"},
            {"kernel", textOrNull(conversion.kernel)}};
  }

  Json pinJson(const ReadBackPin& pin) const {
    Json json = toJson(m_graph, pin);
    json["node"] = m_names.nodeName(pin.node);
    return json;
  }

  Json placementJson(const Placement& placement) const {
    const auto unplaced = [&](const UnplacedLayer& layer) {
      return Json{{"layer", layer.layer},
                  {"why", layer.why},
                  {"nearest", jsonList(layer.nearest, [&](NodeId node) { return m_names.nodeName(node); })}};
    };
    return {{"layers", placement.layers},
            {"placed", placement.placed},
            {"conversions", placement.conversions},
            {"unplaced", jsonList(placement.unplaced, unplaced)},
            {"files", placement.files},
            {"device", textOrNull(placement.device)},
            {"times", textOrNull(placement.times)},
            {"latency_ms", jsonOrNull(placement.latencyMs)},
            {"runs", jsonOrNull(placement.runs)}};
  }

  const ReadBackPlan& m_plan;
  const Graph& m_graph;
  const CoverWriter& m_names;
};

}  // namespace

Json toJson(const Graph& graph, const ReadBackPin& pin) {
  return {{"asked", typeOrNull(pin.asked)},
          {"granted", typeOrNull(pin.granted.value_or(DataType::Undefined))},
          {"result", name(pin.result)},
          {"cause", pin.cause == PinCause::None ? Json(nullptr) : Json(name(pin.cause))},
          {"why", pin.why},
          {"cut", jsonList(pin.cut, [&](ValueId value) { return Json(graph.value(value).name); })}};
}

Json toJson(const ReadBackPlan& plan) {
  const CoverWriter writer(plan);
  Json json = writer.head();
  writer.addKernels(json);
  writer.addCasts(json);
  writer.addTotals(json);
  ReadBackWriter(plan, writer).add(json);
  return json;
}

Json coverJson(const Cover& cover) {
  const ReadBackPlan* made = asReadBack(cover);
  return made != nullptr ? toJson(*made) : toJson(static_cast<const Plan&>(cover));
}

}  // namespace fusescope
