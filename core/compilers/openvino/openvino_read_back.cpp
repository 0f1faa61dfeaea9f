#include "compilers/openvino/openvino_read_back.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "compilers/openvino/layer_kinds.h"
#include "compilers/openvino/layer_nodes.h"

namespace fusescope {
namespace {

bool isRunAsKernel(const ExecutionLayer& layer, LayerRole role) {
  return (role == LayerRole::Kernel || role == LayerRole::Once) && !isView(layer);
}

/// Returns the kernel name of each layer; empty for a layer that is not a kernel.
std::vector<std::string> layerKernelNames(const ExecutionGraph& graph, const std::vector<LayerRole>& roles) {
  std::vector<std::string> names;
  int number = 0;
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const ExecutionLayer& layer = graph.layers[i];
    names.push_back(isRunAsKernel(layer, roles[i]) ? fmt::format("{}_{}", layer.type, ++number) : "");
    if (!names.back().empty() && !layer.primitive.empty() && !layer.primitive.starts_with("unknown"))
      names.back() += "_" + layer.primitive;
  }
  return names;
}

/// Returns whether the layer calculates in the type of its inputs, although its outputs may be wider.
bool calculatesAsRead(const ExecutionLayer& layer) {
  return layer.type == "FullyConnected" || layer.type == "MatMul" || layer.type.ends_with("onvolution");
}

class OpenvinoTeller {
 public:
  OpenvinoTeller(const CompilerInput& network, const ExecutionGraph& graph, const ImportedNetwork& imported)
      : m_network(network),
        m_graph(network.plan->graph()),
        m_execution(graph),
        m_file(network.file.graph),
        m_ops(opNodes(imported, m_file)) {
    findNodes();
    findValues();
    m_layers = layerTensors(graph, imported, m_ops, m_facts);
    m_held = layerNodes(graph, m_ops, m_layers, m_file, m_nodes);
    m_names = layerKernelNames(graph, m_layers.roles);
  }

  ReadBack run() {
    for (std::uint32_t i = 0; i < m_execution.layers.size(); ++i) {
      if (m_names[i].empty()) continue;
      m_readBack.kernels.push_back(kernel(i));
      m_kernelLayers.push_back(i);
      if (m_readBack.kernels.back().nodes.empty() && m_layers.roles[i] == LayerRole::Kernel) addConversions(i);
    }
    moveMakers();
    for (const ReadBackKernel& kernel : m_readBack.kernels)
      for (const auto& [node, certainty] : kernel.nodes) m_hasKernel.insert(node);
    setFates();
    return std::move(m_readBack);
  }

 private:
  const std::vector<NodeId>& nodesOf(std::uint32_t node) const {
    static const std::vector<NodeId> kNobody;
    const auto found = m_network.nodes.find(m_file.node(node).file->name);
    return found == m_network.nodes.end() ? kNobody : found->second;
  }

  void findNodes() {
    for (std::uint32_t i = 0; i < m_file.nodes().size(); ++i) {
      const std::vector<NodeId>& known = nodesOf(i);
      m_nodes.push_back(known.empty() ? nullptr : &m_graph.node(known.front()));
    }
  }

  void findValues() {
    m_facts.varies = varyingTensors(m_file);
    for (const TensorGraph::Tensor& tensor : m_file.tensors()) {
      const auto found = m_network.values.find(tensor.name);
      m_values.push_back(found == m_network.values.end() ? ValueId() : found->second);
      m_facts.elements.push_back(-1);
      if (!m_values.back().valid()) continue;
      const auto extents = m_graph.value(m_values.back()).type.shape.fixed();
      if (extents) m_facts.elements.back() = elementCount(*extents).value_or(-1);
    }
  }

  ReadBackKernel kernel(std::uint32_t index) const {
    const ExecutionLayer& layer = m_execution.layers[index];
    std::map<NodeId, Certainty> nodes;
    for (const HeldNode& held : m_held.held[index])
      for (const NodeId node : nodesOf(held.node)) {
        const auto known = nodes.try_emplace(node, held.certainty).first;
        known->second = std::min(known->second, held.certainty);
      }
    std::vector<const Node*> works;
    for (const auto& [node, certainty] : nodes) works.push_back(&m_graph.node(node));
    ReadBackKernel kernel{.name = m_names[index], .kind = kindOf(layer, works)};
    kernel.nodes.assign(nodes.begin(), nodes.end());
    for (const auto& source : layer.sources)
      if (source.layer != ExecutionLayer::kNone) add(kernel.inputs, source.layer, source.output);
    for (std::uint32_t output = 0; output < layer.outputs.size(); ++output) add(kernel.outputs, index, output);
    kernel.compute = computeOf(layer);
    kernel.once = m_layers.roles[index] == LayerRole::Once;
    if (!kernel.once) kernel.ms = layer.ms;
    return kernel;
  }

  ValueId valueOf(std::uint32_t layer, std::uint32_t output) const {
    const std::uint32_t tensor = m_layers.tensors[layer][output];
    return tensor == TensorGraph::kNone ? ValueId() : m_values[tensor];
  }

  /// OpenVINO stores booleans as bytes.
  DataType reportedType(ValueId value, DataType type) const {
    const bool isBool = value.valid() && m_graph.value(value).type.dtype == DataType::Bool;
    return isBool && (type == DataType::U8 || type == DataType::I8) ? DataType::Bool : type;
  }

  /// Returns the only reader of `value` if it is a node with this operator; otherwise null.
  const Node* onlyReader(const Value& value, std::string_view op) const {
    if (value.consumers.size() != 1 || m_graph.isOutput(value.id)) return nullptr;
    const Node& reader = m_graph.node(value.consumers.front());
    return reader.is(op) ? &reader : nullptr;
  }

  /// OpenVINO makes one operator of a QuantizeLinear and its DequantizeLinear, which can be fused with any layer.
  /// Floats of such a layer are the result of the DequantizeLinear, and bytes are the codes between the two nodes.
  /// Invalid if there is no such value.
  ValueId asReported(ValueId id, DataType type) const {
    if (!id.valid()) return id;
    const Value& value = m_graph.value(id);
    if (type == DataType::Undefined || isFloat(type) == isFloat(value.type.dtype)) return id;
    if (isFloat(type)) {
      const Node* reader = isByteInteger(value.type.dtype) ? onlyReader(value, "DequantizeLinear") : nullptr;
      return reader == nullptr ? ValueId() : reader->outputs.front();
    }
    if (!isByteInteger(type)) return {};
    if (const Node* reader = onlyReader(value, "QuantizeLinear")) return reader->outputs.front();
    const bool isMade = value.producer.valid() && m_graph.node(value.producer).is("DequantizeLinear");
    return isMade ? m_graph.node(value.producer).input(0) : ValueId();
  }

  void add(std::vector<KernelValue>& values, std::uint32_t layer, std::uint32_t output) const {
    const ExecutionPort& port = m_execution.layers[layer].outputs[output];
    const ValueId value = asReported(valueOf(layer, output), port.type);
    const auto isThere = [&](const KernelValue& other) { return other.value == value && other.type == port.type; };
    if (!value.valid() || std::ranges::any_of(values, isThere)) return;
    values.push_back({.value = value, .type = reportedType(value, port.type), .format = port.layout});
  }

  DataType readAs(const ExecutionLayer& layer) const {
    if (layer.sources.empty() || layer.sources.front().layer == ExecutionLayer::kNone) return DataType::Undefined;
    const auto& source = layer.sources.front();
    return m_execution.layers[source.layer].outputs[source.output].type;
  }

  DataType computeOf(const ExecutionLayer& layer) const {
    if (workOf(layer) == LayerWork::Moves) return DataType::Undefined;
    const DataType read = readAs(layer);
    if (calculatesAsRead(layer) && (isFloat(read) || isByteInteger(read))) return read;
    for (const ExecutionPort& output : layer.outputs)
      if (isFloat(output.type)) return output.type;
    return isFloat(read) ? read : DataType::Undefined;
  }

  void addConversions(std::uint32_t index) {
    const ExecutionLayer& layer = m_execution.layers[index];
    if (!isConversion(layer) || layer.outputs.empty() || layer.sources.empty()) return;
    const auto& source = layer.sources.front();
    if (source.layer == ExecutionLayer::kNone) return;
    const ExecutionPort& from = m_execution.layers[source.layer].outputs[source.output];
    const ExecutionPort& to = layer.outputs.front();
    const ValueId value = valueOf(index, 0);
    if (from.type != to.type)
      m_readBack.conversions.push_back({.value = value,
                                        .from = toText(reportedType(value, from.type)),
                                        .to = toText(reportedType(value, to.type)),
                                        .isCast = true,
                                        .kernel = m_names[index]});
    if (from.layout != to.layout)
      m_readBack.conversions.push_back(
          {.value = value, .from = from.layout, .to = to.layout, .isCast = false, .kernel = m_names[index]});
  }

  /// A value that a kernel writes is not calculated by a later kernel. If a node is assigned only to later kernels,
  /// none of which names it (for example a DequantizeLinear that OpenVINO moved), it is moved to the first kernel that
  /// writes its result. If that kernel cannot do the node's work, or only moves elements, what it writes is not this
  /// value, and neither is what is read before.
  void moveMakers() {
    std::map<NodeId, std::vector<std::size_t>> holders;
    for (std::size_t i = 0; i < m_readBack.kernels.size(); ++i)
      for (const auto& [node, certainty] : m_readBack.kernels[i].nodes) holders[node].push_back(i);
    for (std::size_t i = 0; i < m_readBack.kernels.size(); ++i) {
      ReadBackKernel& kernel = m_readBack.kernels[i];
      std::erase_if(kernel.outputs, [&](const KernelValue& output) {
        const NodeId maker = m_graph.value(output.value).producer;
        const auto known = maker.valid() ? holders.find(maker) : holders.end();
        if (known == holders.end() || known->second.front() <= i) return false;
        const bool isMaker =
            !kernel.nodes.empty() && canHold(m_execution.layers[m_kernelLayers[i]], m_graph.node(maker));
        if (!isMaker) return true;
        for (const std::size_t later : known->second)
          std::erase_if(m_readBack.kernels[later].nodes,
                        [&](const auto& held) { return held.first == maker && held.second != Certainty::Named; });
        kernel.nodes.emplace_back(maker, Certainty::Derived);
        std::ranges::sort(kernel.nodes);
        known->second = {i};
        return false;
      });
      std::erase_if(kernel.inputs, [&](const KernelValue& input) {
        const NodeId maker = m_graph.value(input.value).producer;
        const auto known = maker.valid() ? holders.find(maker) : holders.end();
        return known != holders.end() && known->second.front() > i;
      });
    }
  }

  /// A node that only layers without a kernel contain has the fate of a view of its input.
  void setFates() {
    for (std::uint32_t i = 0; i < m_file.nodes().size(); ++i) {
      const Fate fate = m_held.fates[i] == Fate::Kernel ? Fate::View : m_held.fates[i];
      for (const NodeId node : nodesOf(i))
        if (!m_hasKernel.contains(node)) m_readBack.fates.emplace(node, fate);
    }
  }

  const CompilerInput& m_network;
  const Graph& m_graph;
  const ExecutionGraph& m_execution;
  TensorGraph m_file;
  OpNodes m_ops;
  std::vector<const Node*> m_nodes;  ///< by node of the file
  std::vector<ValueId> m_values;     ///< by tensor of the file
  FileTensorFacts m_facts;
  LayerTensors m_layers;
  LayerNodes m_held;
  std::vector<std::string> m_names;           ///< by layer
  std::vector<std::uint32_t> m_kernelLayers;  ///< by kernel
  std::set<NodeId> m_hasKernel;
  ReadBack m_readBack;
};

}  // namespace

ReadBack openvinoReadBack(const CompilerInput& network, const ExecutionGraph& graph, const ImportedNetwork& imported) {
  return OpenvinoTeller(network, graph, imported).run();
}

std::map<std::string, double> openvinoTimes(const ExecutionGraph& graph) {
  const std::vector<LayerRole> roles = layerRoles(graph);
  const std::vector<std::string> names = layerKernelNames(graph, roles);
  std::map<std::string, double> times;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!names[i].empty() && roles[i] == LayerRole::Kernel && graph.layers[i].ms)
      times.emplace(names[i], *graph.layers[i].ms);
  return times;
}

}  // namespace fusescope
