#include "compilers/openvino/layer_regions.h"

#include <algorithm>
#include <numeric>

namespace fusescope {
namespace {

class Regions {
 public:
  Regions(const ExecutionGraph& graph, const LayerTensors& layers) : m_graph(graph), m_layers(layers) {
    m_parent.resize(graph.layers.size());
    std::iota(m_parent.begin(), m_parent.end(), 0U);
  }

  std::vector<LayerRegion> run() {
    for (std::uint32_t i = 0; i < m_graph.layers.size(); ++i)
      for (const auto& source : m_graph.layers[i].sources)
        if (isKernel(i) && isKernel(source.layer) && tensorOf(source) == kNone) join(source.layer, i);
    collect();
    for (LayerRegion& region : m_regions) findTensors(region);
    return std::move(m_regions);
  }

 private:
  static constexpr std::uint32_t kNone = LayerTensors::kNone;

  bool isKernel(std::uint32_t layer) const {
    return layer != ExecutionLayer::kNone && m_layers.roles[layer] == LayerRole::Kernel;
  }
  std::uint32_t tensorOf(const ExecutionLayer::Source& source) const {
    return source.layer == ExecutionLayer::kNone ? kNone : m_layers.tensors[source.layer][source.output];
  }

  std::uint32_t root(std::uint32_t layer) {
    while (m_parent[layer] != layer) layer = m_parent[layer] = m_parent[m_parent[layer]];
    return layer;
  }
  void join(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t rootA = root(a), rootB = root(b);
    m_parent[std::max(rootA, rootB)] = std::min(rootA, rootB);
  }

  void collect() {
    m_regionOf.resize(m_graph.layers.size(), kNone);
    for (std::uint32_t i = 0; i < m_graph.layers.size(); ++i) {
      if (!isKernel(i)) continue;
      std::uint32_t& region = m_regionOf[root(i)];
      if (region == kNone) {
        region = static_cast<std::uint32_t>(m_regions.size());
        m_regions.emplace_back();
      }
      m_regionOf[i] = region;
      m_regions[region].layers.push_back(i);
    }
  }

  static void add(std::vector<std::uint32_t>& tensors, std::uint32_t tensor) {
    if (tensor != kNone && std::ranges::find(tensors, tensor) == tensors.end()) tensors.push_back(tensor);
  }

  void findTensors(LayerRegion& region) const {
    for (const std::uint32_t layer : region.layers) {
      for (const auto& source : m_graph.layers[layer].sources)
        if (source.layer != ExecutionLayer::kNone && m_regionOf[source.layer] != m_regionOf[layer])
          add(region.tensors.inputs, tensorOf(source));
      for (const std::uint32_t tensor : m_layers.tensors[layer]) add(region.tensors.outputs, tensor);
    }
  }

  const ExecutionGraph& m_graph;
  const LayerTensors& m_layers;
  std::vector<std::uint32_t> m_parent, m_regionOf;
  std::vector<LayerRegion> m_regions;
};

}  // namespace

std::vector<LayerRegion> layerRegions(const ExecutionGraph& graph, const LayerTensors& layers) {
  return Regions(graph, layers).run();
}

RevealedTensors revealedTensors(const ExecutionGraph& graph, const LayerTensors& layers, const TensorGraph& file) {
  RevealedTensors revealed(file);
  for (std::uint32_t i = 0; i < graph.layers.size(); ++i) {
    const bool isConstant = layers.roles[i] == LayerRole::Constant || layers.roles[i] == LayerRole::Once;
    for (const std::uint32_t tensor : layers.tensors[i])
      if (tensor != LayerTensors::kNone) (isConstant ? revealed.constant : revealed.kept)[tensor] = true;
  }
  for (std::uint32_t i = 0; i < file.tensors().size(); ++i) {
    if (file.tensor(i).isInput) revealed.kept[i] = true;
    if (revealed.kept[i]) revealed.constant[i] = false;
  }
  return revealed;
}

}  // namespace fusescope
