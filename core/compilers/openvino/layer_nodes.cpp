#include "compilers/openvino/layer_nodes.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "compilers/openvino/layer_kinds.h"
#include "compilers/openvino/layer_regions.h"
#include "planning/kinds.h"

namespace fusescope {
namespace {

/// Returns whether all elements of a small constant are `value`, so that adding it or multiplying by it changes
/// nothing.
bool holdsOnly(const onnxlib::FileTensor& tensor, float value) {
  constexpr std::int64_t kMost = 1 << 16;
  if (tensor.dtype != DataType::F32 || tensor.data == nullptr || tensor.dims.size() > 1) return false;
  const std::int64_t count = tensor.dims.empty() ? 1 : tensor.dims.front();
  if (count > kMost) return false;
  for (std::int64_t i = 0; i < count; ++i) {
    float held = 0;
    std::memcpy(&held, tensor.data + i * static_cast<std::int64_t>(sizeof held), sizeof held);
    if (held != value) return false;
  }
  return true;
}

/// Returns whether `madeUp` is how OpenVINO begins the name of an operator that it makes for a node with the operator
/// `op`.
bool isMadeUpFor(std::string_view op, std::string_view madeUp) {
  if (op == "Mul" || op == "Div") return madeUp.starts_with("Multiply") || madeUp.starts_with("Divide");
  if (op == "Add" || op == "Sub") return madeUp.starts_with("Add") || madeUp.starts_with("Subtract");
  return false;
}

class Assigner {
 public:
  Assigner(const ExecutionGraph& graph, const OpNodes& ops, const LayerTensors& layers, const TensorGraph& file,
           std::span<const Node* const> nodes)
      : m_graph(graph),
        m_ops(ops),
        m_layers(layers),
        m_file(file),
        m_nodes(nodes),
        m_holders(file.nodes().size()),
        m_isRemoved(file.nodes().size()),
        m_isClaimed(graph.layers.size()),
        m_mark(file.nodes().size(), kNone),
        m_isAfter(file.nodes().size()),
        m_place(file.nodes().size(), 0) {
    for (std::uint32_t i = 0; i < file.order().size(); ++i) m_place[file.order()[i]] = i;
    for (std::uint32_t i = 0; i < graph.layers.size(); ++i) m_isClaimed[i].resize(layers.madeUp[i].size());
  }

  LayerNodes run() {
    takeNamed();
    const std::vector<LayerRegion> regions = layerRegions(m_graph, m_layers);
    std::vector<SliceRegion> cuts;
    for (const LayerRegion& region : regions) cuts.push_back(region.tensors);
    m_slices = sliceNetwork(m_file, equalTensors(m_file), revealedTensors(m_graph, m_layers, m_file), cuts);
    for (std::uint32_t i = 0; i < regions.size(); ++i) takeRegion(i, regions[i]);
    return finished();
  }

 private:
  static constexpr std::uint32_t kNone = TensorGraph::kNone;
  struct Holder {
    std::uint32_t layer = 0;
    Certainty certainty = Certainty::Guessed;
  };

  const ExecutionLayer& layer(std::uint32_t index) const { return m_graph.layers[index]; }
  bool canTake(std::uint32_t layer, std::uint32_t node) const {
    return m_nodes[node] == nullptr || canHold(m_graph.layers[layer], *m_nodes[node]);
  }
  NodeWork work(std::uint32_t node) const {
    return m_nodes[node] == nullptr ? NodeWork::Other : workOf(*m_nodes[node]);
  }
  bool moves(std::uint32_t node) const { return work(node) == NodeWork::Moves || work(node) == NodeWork::Casts; }

  void hold(std::uint32_t node, std::uint32_t layer, Certainty certainty) {
    for (Holder& holder : m_holders[node]) {
      if (holder.layer != layer) continue;
      holder.certainty = std::min(holder.certainty, certainty);
      return;
    }
    m_holders[node].push_back({layer, certainty});
  }
  bool isIn(std::uint32_t node, std::uint32_t layer) const {
    return std::ranges::find(m_holders[node], layer, &Holder::layer) != m_holders[node].end();
  }

  void takeNamed() {
    for (std::uint32_t i = 0; i < m_graph.layers.size(); ++i) {
      if (m_layers.roles[i] != LayerRole::Kernel && m_layers.roles[i] != LayerRole::Once) continue;
      for (const NamedOp& named : m_layers.named[i]) {
        const std::uint32_t node = m_ops.nodes[named.op];
        if (!named.isWhole || node == kNone || !canTake(i, node)) continue;
        hold(node, i, m_ops.makesTensor[named.op] ? Certainty::Named : Certainty::Derived);
      }
    }
  }

  void takeRegion(std::uint32_t index, const LayerRegion& region) {
    std::vector<std::uint32_t> cover = m_slices.covers[index].nodes;
    std::ranges::sort(cover, {}, [&](std::uint32_t node) { return m_place[node]; });
    for (const std::uint32_t node : cover) m_mark[node] = index;
    for (const std::uint32_t node : cover) {
      m_isAfter[node] = isAfterHeld(index, node, region);
      if (m_holders[node].empty()) take(node, region, cover);
    }
    shareOnly(region, cover);
  }

  /// Returns whether the node depends on a node that a layer of the region contains.
  bool isAfterHeld(std::uint32_t index, std::uint32_t node, const LayerRegion& region) const {
    return std::ranges::any_of(m_file.node(node).reads, [&](std::uint32_t read) {
      const std::uint32_t maker = read == kNone ? kNone : m_file.tensor(read).producer;
      if (maker == kNone || m_mark[maker] != index) return false;
      return m_isAfter[maker] ||
             std::ranges::any_of(region.layers, [&](std::uint32_t layer) { return isIn(maker, layer); });
    });
  }

  void take(std::uint32_t node, const LayerRegion& region, const std::vector<std::uint32_t>& cover) {
    if (work(node) == NodeWork::Elementwise && doesNothing(node)) {
      m_isRemoved[node] = true;
      return;
    }
    const std::vector<std::uint32_t> able = candidates(node, region);
    const bool isBefore = work(node) == NodeWork::Elementwise && !m_isAfter[node];
    if (isBefore && !(able.size() == 1 && isWholePattern(layer(able.front())))) {
      guess(node, able);
    } else if (able.size() == 1) {
      hold(node, able.front(), Certainty::Derived);
    } else if (!able.empty() && isOnlyWork(node, cover)) {
      for (const std::uint32_t layer : able)
        if (m_layers.named[layer].empty()) hold(node, layer, Certainty::Derived);
      if (m_holders[node].empty()) hold(node, able.front(), Certainty::Guessed);
    } else if (!able.empty()) {
      hold(node, likeliest(node, able), Certainty::Guessed);
    } else {
      guess(node, able);
    }
  }

  std::vector<std::uint32_t> candidates(std::uint32_t node, const LayerRegion& region) const {
    std::vector<std::uint32_t> able;
    for (const std::uint32_t index : region.layers) {
      if (isConversion(layer(index)) && work(node) != NodeWork::Casts) continue;
      if (canTake(index, node)) able.push_back(index);
    }
    return able;
  }

  bool isOnlyWork(std::uint32_t node, const std::vector<std::uint32_t>& cover) const {
    return std::ranges::none_of(cover, [&](std::uint32_t other) { return other != node && !moves(other); });
  }

  /// Returns the most likely of the layers that could contain a node: one of its kind or with a made-up name, otherwise
  /// the last one.
  std::uint32_t likeliest(std::uint32_t node, const std::vector<std::uint32_t>& able) const {
    const std::string_view kind = m_nodes[node] == nullptr ? kinds::kOperator : kindOfSingle(*m_nodes[node]);
    for (const std::uint32_t index : able) {
      const std::string made = kindOf(layer(index), {});
      if (made == kind || (made == "split" && kind == kinds::kSlice)) return index;
    }
    const auto unnamed = std::ranges::find_if(able, [&](std::uint32_t index) { return m_layers.named[index].empty(); });
    return unnamed != able.end() ? *unnamed : able.back();
  }

  /// Guesses the layer of an elementwise node that no layer names and before which its layer has no node. The layer
  /// that calculates its input may have been fused with it, most likely if it contains an operator with a made-up name
  /// for such a node.
  void guess(std::uint32_t node, const std::vector<std::uint32_t>& able) {
    const std::uint32_t before = work(node) == NodeWork::Elementwise ? layerBefore(node) : kNone;
    const auto claimed = std::ranges::find_if(able, [&](std::uint32_t layer) {
      return m_layers.named[layer].empty() && readsBefore(layer, node) && claim(layer, node);
    });
    if (claimed != able.end()) {
      hold(node, *claimed, Certainty::Guessed);
    } else if (before != kNone && claim(before, node)) {
      hold(node, before, Certainty::Guessed);
    } else if (!able.empty()) {
      hold(node, likeliest(node, able), Certainty::Guessed);
    } else if (before != kNone && canTake(before, node)) {
      hold(node, before, Certainty::Guessed);
    }
  }

  bool claim(std::uint32_t layer, std::uint32_t node) {
    if (!canTake(layer, node)) return false;
    const auto& names = m_layers.madeUp[layer];
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (m_isClaimed[layer][i] || !isMadeUpFor(m_file.node(node).file->op, names[i])) continue;
      m_isClaimed[layer][i] = true;
      return true;
    }
    return false;
  }

  bool isConstant(std::uint32_t tensor) const {
    if (m_file.isConstant(tensor)) return true;
    const std::uint32_t maker = m_file.tensor(tensor).producer;
    return maker != kNone && m_slices.fates[maker] == Fate::Folded;
  }

  /// Returns the only input of a node that is not a constant; kNone if there is none or there are several.
  std::uint32_t onlyRead(std::uint32_t node) const {
    std::uint32_t only = kNone;
    for (const std::uint32_t read : m_file.node(node).reads) {
      if (read == kNone || isConstant(read)) continue;
      if (only != kNone && only != read) return kNone;
      only = read;
    }
    return only;
  }

  /// Returns whether a layer reads the input of a node, or the value from which nodes that only move elements made that
  /// input.
  bool readsBefore(std::uint32_t index, std::uint32_t node) const {
    std::uint32_t tensor = onlyRead(node);
    for (std::size_t steps = 0; tensor != kNone && steps < m_nodes.size(); ++steps) {
      for (const auto& source : layer(index).sources)
        if (source.layer != ExecutionLayer::kNone && m_layers.tensors[source.layer][source.output] == tensor)
          return true;
      const std::uint32_t maker = m_file.tensor(tensor).producer;
      if (maker == kNone || (!m_isRemoved[maker] && !moves(maker))) return false;
      tensor = onlyRead(maker);
    }
    return false;
  }

  /// Returns the layer that calculates a node's input, before nodes that only move it; kNone if it is unknown.
  std::uint32_t layerBefore(std::uint32_t node) const {
    std::uint32_t tensor = onlyRead(node);
    for (std::size_t steps = 0; tensor != kNone && steps < m_nodes.size(); ++steps) {
      const std::uint32_t maker = m_file.tensor(tensor).producer;
      if (maker == kNone) return kNone;
      if (!m_isRemoved[maker] && !moves(maker)) return m_holders[maker].empty() ? kNone : m_holders[maker].back().layer;
      tensor = onlyRead(maker);
    }
    return kNone;
  }

  bool doesNothing(std::uint32_t index) const {
    const TensorGraph::Node& node = m_file.node(index);
    const std::string& op = node.file->op;
    const bool isSum = op == "Add" || op == "Sub", isProduct = op == "Mul" || op == "Div";
    if (!node.file->domain.empty() || (!isSum && !isProduct) || node.reads.size() != 2) return false;
    const std::size_t first = op == "Add" || op == "Mul" ? 0 : 1;
    for (std::size_t i = first; i < 2; ++i) {
      const std::uint32_t read = node.reads[i];
      if (read != kNone && m_file.isConstant(read) && holdsOnly(*m_file.tensor(read).initializer, isSum ? 0 : 1))
        return true;
    }
    return false;
  }

  /// If a region has only one node, layers with made-up names beside its layers calculate parts of it.
  void shareOnly(const LayerRegion& region, const std::vector<std::uint32_t>& cover) {
    if (cover.size() != 1 || m_holders[cover.front()].empty()) return;
    for (const std::uint32_t index : region.layers)
      if (m_layers.named[index].empty() && !m_layers.madeUp[index].empty() && canTake(index, cover.front()))
        hold(cover.front(), index, Certainty::Derived);
  }

  LayerNodes finished() const {
    LayerNodes result;
    result.held.resize(m_graph.layers.size());
    for (std::uint32_t node = 0; node < m_holders.size(); ++node) {
      for (const Holder& holder : m_holders[node]) result.held[holder.layer].push_back({node, holder.certainty});
      result.fates.push_back(fateOf(node));
    }
    return result;
  }

  Fate fateOf(std::uint32_t node) const {
    if (!m_holders[node].empty()) return Fate::Kernel;
    if (m_isRemoved[node]) return Fate::Removed;
    const Fate fate = m_slices.fates[node];
    return fate == Fate::Kernel ? Fate::NotDisclosed : fate;
  }

  const ExecutionGraph& m_graph;
  const OpNodes& m_ops;
  const LayerTensors& m_layers;
  const TensorGraph& m_file;
  std::span<const Node* const> m_nodes;
  Slices m_slices;
  std::vector<std::vector<Holder>> m_holders;  ///< by node
  std::vector<bool> m_isRemoved;               ///< by node: whether it does nothing and no layer names it
  std::vector<std::vector<bool>> m_isClaimed;  ///< by layer and made-up name: whether the name was used for a node
  std::vector<std::uint32_t> m_mark;           ///< by node: the last region whose cover contains it
  std::vector<bool> m_isAfter;                 ///< by node: isAfterHeld() in that region
  std::vector<std::uint32_t> m_place;          ///< by node: in the order of the graph
};

}  // namespace

LayerNodes layerNodes(const ExecutionGraph& graph, const OpNodes& ops, const LayerTensors& layers,
                      const TensorGraph& file, std::span<const Node* const> nodes) {
  return Assigner(graph, ops, layers, file, nodes).run();
}

}  // namespace fusescope
