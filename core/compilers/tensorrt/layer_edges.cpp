#include "compilers/tensorrt/layer_edges.h"

#include <algorithm>
#include <ranges>
#include <unordered_map>

#include "ir/graph.h"

namespace fusescope {
namespace {

bool haveEqualSize(const ListedTensor& a, const ListedTensor& b) {
  return elementCount(a.dims) == elementCount(b.dims) || std::ranges::any_of(a.dims, [](auto dim) { return dim < 0; });
}

class EdgeFinder {
 public:
  EdgeFinder(const std::vector<ListedLayer>& layers, const CompilerInput& network,
             const std::vector<bool>& containsNodes)
      : m_layers(layers), m_network(network), m_holdsNodes(containsNodes) {
    m_edges.inputs.resize(layers.size());
    m_edges.outputs.resize(layers.size());
    m_edges.users.resize(layers.size());
  }

  LayerEdges run() {
    connect();
    for (std::size_t i = 0; i < m_layers.size(); ++i) passOn(i);
    for (std::size_t i = m_layers.size(); i-- > 0;) passBack(i);
    for (std::size_t i = 0; i < m_layers.size(); ++i) readAgain(i);
    return std::move(m_edges);
  }

 private:
  void connect() {
    std::unordered_map<std::string_view, std::size_t> writer;
    for (std::size_t i = 0; i < m_layers.size(); ++i) {
      for (const ListedTensor& tensor : m_layers[i].inputs) {
        const auto wrote = writer.find(tensor.name);
        LayerEdges::Input& input = m_edges.inputs[i].emplace_back();
        input.value = named(tensor);
        if (wrote == writer.end()) continue;
        input.layer = wrote->second;
        auto& users = m_edges.users[wrote->second];
        if (users.empty() || users.back() != i) users.push_back(i);
      }
      for (const ListedTensor& tensor : m_layers[i].outputs) {
        m_edges.outputs[i].push_back(named(tensor));
        writer[tensor.name] = i;
      }
    }
  }

  ValueId named(const ListedTensor& tensor) const {
    const auto known = m_network.values.find(tensor.name);
    if (known == m_network.values.end()) return {};
    return mayHaveSameElements(tensor, m_network.plan->graph().value(known->second).type) ? known->second : ValueId();
  }

  bool movesOne(std::size_t layer) const {
    return !m_holdsNodes[layer] && m_layers[layer].inputs.size() == 1 && m_layers[layer].outputs.size() == 1 &&
           haveEqualSize(m_layers[layer].inputs.front(), m_layers[layer].outputs.front());
  }

  /// Returns the value that a layer last wrote under the name of its input.
  ValueId& written(std::size_t layer, std::string_view name) {
    const auto& outputs = m_layers[layer].outputs;
    for (std::size_t i = outputs.size(); i-- > 0;)
      if (outputs[i].name == name) return m_edges.outputs[layer][i];
    return m_edges.outputs[layer].front();
  }

  void readAgain(std::size_t layer) {
    for (std::size_t i = 0; i < m_edges.inputs[layer].size(); ++i) {
      LayerEdges::Input& input = m_edges.inputs[layer][i];
      if (input.layer != LayerEdges::kNone && !input.value.valid())
        input.value = written(input.layer, m_layers[layer].inputs[i].name);
    }
  }

  void passOn(std::size_t layer) {
    readAgain(layer);
    if (movesOne(layer) && !m_edges.outputs[layer].front().valid())
      m_edges.outputs[layer].front() = m_edges.inputs[layer].front().value;
  }

  /// The value of "Reformatted Output Tensor 0 to X" is known from what is made of it.
  void passBack(std::size_t layer) {
    if (!movesOne(layer)) return;
    LayerEdges::Input& input = m_edges.inputs[layer].front();
    if (input.value.valid() || !m_edges.outputs[layer].front().valid()) return;
    input.value = m_edges.outputs[layer].front();
    if (input.layer != LayerEdges::kNone) written(input.layer, m_layers[layer].inputs.front().name) = input.value;
  }

  const std::vector<ListedLayer>& m_layers;
  const CompilerInput& m_network;
  const std::vector<bool>& m_holdsNodes;
  LayerEdges m_edges;
};

}  // namespace

LayerEdges layerEdges(const std::vector<ListedLayer>& layers, const CompilerInput& network,
                      const std::vector<bool>& containsNodes) {
  return EdgeFinder(layers, network, containsNodes).run();
}

bool mayHaveSameElements(const ListedTensor& tensor, const TensorType& type) {
  const auto extents = type.shape.fixed();
  const bool isOpen = std::ranges::any_of(tensor.dims, [](std::int64_t extent) { return extent < 0; });
  return !extents || isOpen || elementCount(*extents) == elementCount(tensor.dims);
}

}  // namespace fusescope
