#include "compilers/onnxruntime/kernel_covers.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

#include "base/sort_distinct.h"
#include "compilers/onnxruntime/region_split.h"
#include "onnxlib/node_dependence.h"

namespace fusescope::onnxruntime {
namespace {

/// Groups kernels that are joined by tensors without a binding.
class Regions {
 public:
  explicit Regions(const Optimised& optimised) : m_optimised(optimised), m_parents(optimised.graph.nodes().size()) {
    std::iota(m_parents.begin(), m_parents.end(), 0U);
    for (std::uint32_t i = 0; i < optimised.graph.tensors().size(); ++i) join(i);
    for (std::uint32_t i = 0; i < m_parents.size(); ++i) number(i);
    for (const std::uint32_t node : optimised.graph.order()) addKernel(node);
    for (SliceRegion& region : m_slices) {
      sortDistinct(region.inputs);
      sortDistinct(region.outputs);
    }
  }

  const std::vector<std::uint32_t>& regionOf() const { return m_regionOf; }
  const std::vector<SliceRegion>& slices() const { return m_slices; }
  const std::vector<std::vector<std::uint32_t>>& kernels() const { return m_kernels; }  ///< in the order of the graph

 private:
  std::uint32_t rootOf(std::uint32_t node) {
    while (m_parents[node] != node) node = m_parents[node] = m_parents[m_parents[node]];
    return node;
  }

  void join(std::uint32_t tensor) {
    const std::uint32_t producer = m_optimised.graph.tensor(tensor).producer;
    if (m_optimised.bindings[tensor].tensor != kNone || producer == kNone) return;
    for (const std::uint32_t consumer : m_optimised.graph.tensor(tensor).consumers)
      m_parents[rootOf(consumer)] = rootOf(producer);
  }

  void number(std::uint32_t node) {
    const std::uint32_t root = rootOf(node);
    if (m_numbers.size() <= root) m_numbers.resize(m_parents.size(), kNone);
    if (m_numbers[root] == kNone) {
      m_numbers[root] = static_cast<std::uint32_t>(m_slices.size());
      m_slices.emplace_back();
      m_kernels.emplace_back();
    }
    m_regionOf.push_back(m_numbers[root]);
  }

  void addKernel(std::uint32_t index) {
    const std::uint32_t number = m_regionOf[index];
    m_kernels[number].push_back(index);
    const TensorGraph::Node& node = m_optimised.graph.node(index);
    for (const std::uint32_t read : node.reads) {
      const std::uint32_t tensor = read == kNone ? kNone : m_optimised.bindings[read].tensor;
      if (tensor == kNone) continue;
      const std::uint32_t producer = m_optimised.graph.tensor(read).producer;
      if (producer == kNone || m_regionOf[producer] != number) m_slices[number].inputs.push_back(tensor);
    }
    for (const std::uint32_t made : node.makes)
      if (made != kNone && m_optimised.bindings[made].tensor != kNone)
        m_slices[number].outputs.push_back(m_optimised.bindings[made].tensor);
  }

  const Optimised& m_optimised;
  std::vector<std::uint32_t> m_parents, m_numbers, m_regionOf;
  std::vector<SliceRegion> m_slices;
  std::vector<std::vector<std::uint32_t>> m_kernels;
};

/// Returns whether the node returns extents that are known before anything runs.
bool asksForKnownExtents(const Network& network, const TensorGraph::Node& node) {
  const bool asks = node.file->domain.empty() && (node.file->op == "Shape" || node.file->op == "Size");
  if (!asks || node.reads.empty() || node.reads[0] == kNone || node.makes.empty() || node.makes[0] == kNone)
    return false;
  const auto& extents = network.types[node.reads[0]].extents;
  return extents && std::ranges::all_of(*extents, [](std::int64_t extent) { return extent >= 0; });
}

/// Returns which tensors of the network occur in the optimised network.
RevealedTensors revealedTensors(const Network& network, const Optimised& optimised) {
  RevealedTensors revealed(network.graph);
  for (std::uint32_t i = 0; i < optimised.bindings.size(); ++i) {
    const std::uint32_t tensor = optimised.bindings[i].tensor;
    if (tensor == kNone) continue;
    const bool isConstant = optimised.graph.isConstant(i);
    if (isConstant && network.graph.tensor(tensor).producer != kNone) revealed.constant[tensor] = true;
    if (!isConstant) revealed.kept[tensor] = true;
  }
  for (const TensorGraph::Node& node : network.graph.nodes())
    if (asksForKnownExtents(network, node) && !revealed.kept[node.makes[0]]) revealed.constant[node.makes[0]] = true;
  return revealed;
}

/// If a node may be in several kernels, removes guesses from regions that are not closed when a better binding is
/// known.
void dropBadGuesses(KernelCovers& covers) {
  std::vector<Certainty> best(covers.fates.size(), Certainty::Guessed);
  for (const auto& nodes : covers.nodes)
    for (const auto& [node, certainty] : nodes) best[node] = std::min(best[node], certainty);
  for (std::size_t kernel = 0; kernel < covers.nodes.size(); ++kernel)
    if (!covers.covers[covers.regionOf[kernel]].isClosed)
      std::erase_if(covers.nodes[kernel], [&](const std::pair<std::uint32_t, Certainty>& held) {
        return held.second == Certainty::Guessed && best[held.first] != Certainty::Guessed;
      });
}

/// Returns for each tensor whether it is known before anything runs, because it depends only on initializers.
std::vector<bool> constantsOf(const TensorGraph& graph) {
  std::vector<bool> constants(graph.tensors().size());
  for (std::uint32_t i = 0; i < constants.size(); ++i) constants[i] = graph.isConstant(i);
  for (const std::uint32_t index : graph.order()) {
    const TensorGraph::Node& node = graph.node(index);
    const bool isOver =
        !onnxlib::isRandom(*node.file) && !node.reads.empty() &&
        std::ranges::all_of(node.reads, [&](std::uint32_t read) { return read == kNone || constants[read]; });
    for (const std::uint32_t made : node.makes)
      if (made != kNone && isOver) constants[made] = true;
  }
  return constants;
}

/// Handles nodes that ONNX Runtime moves to constants before it runs. For example, a Transpose of dequantised weights
/// is applied to their codes, so that the kernel does the work of the node before the Transpose.
class MovedConstants {
 public:
  MovedConstants(const Network& network, const Optimised& optimised, KernelCovers& covers)
      : m_network(network), m_optimised(optimised), m_covers(covers), m_constants(constantsOf(network.graph)) {}

  /// Adds `node` to `kernel`, the only kernel of a region whose cover contains the node; no kernel can contain the node
  /// itself.
  void hold(std::uint32_t kernel, std::uint32_t node) {
    if (!isOverConstants(node)) return;
    m_covers.fates[node] = Fate::Folded;
    const std::uint32_t moved = beforeMoves(node);
    if (moved == kNone || m_covers.fates[moved] != Fate::Folded || !m_covers.nodes[kernel].empty()) return;
    if (m_network.graph.node(moved).file->op != m_optimised.graph.node(kernel).file->op) return;
    m_covers.nodes[kernel].emplace_back(moved, Certainty::Derived);
    m_covers.fates[moved] = Fate::Kernel;
    m_held.insert(moved);
  }
  bool isHeld(std::size_t node) const { return m_held.contains(static_cast<std::uint32_t>(node)); }

 private:
  bool isOverConstants(std::uint32_t node) const {
    return std::ranges::all_of(m_network.graph.node(node).makes,
                               [&](std::uint32_t made) { return made == kNone || m_constants[made]; });
  }

  /// Returns the node whose result is moved; kNone if `node` does not move the result of a node.
  std::uint32_t beforeMoves(std::uint32_t node) const {
    while (workOf(m_network.graph.node(node).file->op) == Work::Moves) {
      const auto& reads = m_network.graph.node(node).reads;
      if (reads.empty() || reads[0] == kNone) return kNone;
      const std::uint32_t producer = m_network.graph.tensor(reads[0]).producer;
      if (producer == kNone) return kNone;
      node = producer;
    }
    return node;
  }

  const Network& m_network;
  const Optimised& m_optimised;
  KernelCovers& m_covers;
  const std::vector<bool> m_constants;
  std::set<std::uint32_t> m_held;
};

}  // namespace

KernelCovers coverKernels(const Network& network, const Optimised& optimised) {
  const Regions regions(optimised);
  Slices slices = sliceNetwork(network.graph, network.equal, revealedTensors(network, optimised), regions.slices());
  KernelCovers covers{
      .nodes = std::vector<std::vector<std::pair<std::uint32_t, Certainty>>>(optimised.graph.nodes().size()),
      .regionOf = regions.regionOf(),
      .covers = std::move(slices.covers),
      .fates = std::move(slices.fates)};
  std::vector<bool> isHeld(network.graph.nodes().size());
  for (std::size_t region = 0; region < covers.covers.size(); ++region)
    for (const HeldNode& held : splitRegion(network, optimised, regions.kernels()[region], covers.covers[region])) {
      covers.nodes[held.kernel].emplace_back(held.node, held.certainty);
      isHeld[held.node] = true;
    }
  dropBadGuesses(covers);
  MovedConstants moved(network, optimised, covers);
  for (std::size_t region = 0; region < covers.covers.size(); ++region)
    for (const std::uint32_t node : covers.covers[region].nodes)
      if (!isHeld[node] && regions.kernels()[region].size() == 1) moved.hold(regions.kernels()[region][0], node);
  for (std::size_t node = 0; node < isHeld.size(); ++node)
    if (covers.fates[node] == Fate::Kernel && !isHeld[node] && !moved.isHeld(node))
      covers.fates[node] = Fate::NotDisclosed;
  return covers;
}

}  // namespace fusescope::onnxruntime
