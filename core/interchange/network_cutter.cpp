#include "interchange/network_cutter.h"

#include <algorithm>

#include "frontends/example_inputs.h"
#include "frontends/input_spec_metadata.h"
#include "frontends/onnx/file_tensors.h"
#include "interchange/source_network.h"
#include "ir/graph.h"

namespace fusescope {

Result<NetworkCutter> NetworkCutter::open(const Plan& plan, const StopToken& stop) {
  NetworkCutter cutter;
  cutter.m_model = unquantized(plan.model);
  if (cutter.m_model->format != "onnx")
    return Diagnostic{.message = "a part can only be cut out of an ONNX file", .where = {.file = cutter.m_model->path}};
  cutter.m_source = TRY(sourceNetwork(plan, stop));
  cutter.m_file = std::make_shared<const onnxlib::FileModel>(
      TRY(onnxlib::readModel(cutter.m_source, {.takesMissingData = cutter.m_model->weightless})));
  if (cutter.m_file->graph.nodes.size() != cutter.m_model->origins.size())
    return Diagnostic{.message = "this is not the network for which the plan was made",
                      .where = {.file = cutter.m_source.string()}};
  cutter.m_values = std::make_shared<const FileValues>(cutter.m_file->graph);
  cutter.m_isRepresented.resize(cutter.m_file->graph.nodes.size(), 0);
  const Graph& graph = *cutter.m_model->graph;
  for (const NodeId node : graph.order())
    for (const OriginId origin : graph.node(node).origins) cutter.m_isRepresented[origin.index] = 1;
  return cutter;
}

PartFacts NetworkCutter::facts() const {
  return {.isConstant =
              [this](const std::string& value) {
                const auto found = m_model->graph->findValue(value);
                return found && m_model->graph->constantData(*found) != nullptr;
              },
          .isRemoved = [this](std::size_t node) { return m_isRepresented[node] == 0; }};
}

std::vector<std::string> NetworkCutter::nodeNames(const std::set<std::size_t>& nodes) const {
  std::vector<std::string> names;
  for (const std::size_t node : nodes) names.push_back(nodeName(node));
  return names;
}

std::optional<TensorType> NetworkCutter::inputType(const std::string& value) const {
  const Graph& graph = *m_model->graph;
  for (std::size_t i = 0; i < graph.inputs().size(); ++i) {
    const Value& input = graph.value(graph.inputs()[i]);
    if (input.name != value) continue;
    return i < m_model->declaredInputs.size() ? m_model->declaredInputs[i] : input.type;
  }
  return std::nullopt;
}

Result<onnxlib::NetworkBytes> NetworkCutter::cut(const NetworkPart& part, const ValueTypes& types,
                                                 const std::vector<InputSpec>& specs,
                                                 const std::string& weightsName) const {
  const auto valueOf = [&](const std::string& name) {
    const auto known = types.find(name);
    return onnxlib::FileValue{name, known == types.end() ? onnxlib::FileType() : fileType(known->second)};
  };
  onnxlib::NetworkEdits edits;
  edits.borders.emplace();
  for (const std::string& input : part.inputs) edits.borders->inputs.push_back(valueOf(input));
  for (const std::string& output : part.outputs) edits.borders->outputs.push_back(valueOf(output));
  for (std::size_t node = 0; node < m_file->graph.nodes.size(); ++node) {
    if (!part.nodes.contains(node))
      edits.removedNodes.push_back({{}, node});
    else if (nodeName(node) != m_file->graph.nodes[node].displayName())
      edits.names.push_back({node, nodeName(node)});  // of two of one name, plans call the second otherwise
  }
  const Graph& graph = *m_model->graph;
  for (const std::string& name : part.frozen)
    edits.initializers.push_back({{}, fileTensor(name, *graph.value(*graph.findValue(name)).constant)});
  const bool isOpen =
      std::ranges::any_of(specs, [&](const InputSpec& spec) { return !types.at(spec.name).shape.fixed().has_value(); });
  if (isOpen || m_file->metadata.contains(kInputSpecsKey)) edits.metadata[kInputSpecsKey] = inputSpecsText(specs);
  edits.removedMetadata = {kExampleInputsKey};  // they are of the whole network
  return onnxlib::editNetwork(m_source, edits, weightsName);
}

}  // namespace fusescope
