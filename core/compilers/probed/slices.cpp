#include "compilers/probed/slices.h"
#include "onnxlib/node_dependence.h"

#include <algorithm>
#include <array>

namespace fusescope {
namespace {

constexpr std::uint32_t kNone = TensorGraph::kNone;

bool isOneOf(const onnxlib::FileNode& node, std::span<const std::string_view> ops) {
  return std::ranges::find(ops, node.op) != ops.end();
}

/// If the node only changes the representation of a tensor, not its numbers, returns the tensor that it reads;
/// otherwise kNone.
std::uint32_t rewritten(const TensorGraph::Node& node) {
  constexpr std::array<std::string_view, 4> ops{"Identity", "Cast", "QuantizeLinear", "DequantizeLinear"};
  return isOneOf(*node.file, ops) && !node.reads.empty() ? node.reads.front() : kNone;
}

bool isView(const onnxlib::FileNode& node) {
  constexpr std::array<std::string_view, 4> ops{"Reshape", "Squeeze", "Unsqueeze", "Flatten"};
  return node.domain.empty() && isOneOf(node, ops);
}

/// Facts about the tensors of a network that are determined before regions are cut out of it.
class Facts {
 public:
  Facts(const TensorGraph& network, const std::vector<std::uint32_t>& equal, const RevealedTensors& revealed)
      : m_network(network),
        m_equal(equal),
        m_kept(revealed.kept),
        m_constant(revealed.constant),
        m_varies(varyingTensors(network)) {
    findStandIns();
    findConstants();
    findFolded();
    findNeeded();
  }

  bool isKept(std::uint32_t tensor) const { return m_kept[tensor]; }
  bool isConstant(std::uint32_t tensor) const { return m_constant[tensor]; }
  bool isFolded(std::uint32_t node) const { return m_folded[node]; }
  /// Returns whether the node calculates numbers that no compiler can know in advance, although only folded nodes read
  /// it: they need only its extents.
  bool isForExtents(std::uint32_t node) const {
    return std::ranges::any_of(m_network.node(node).makes, [&](std::uint32_t made) {
      return made != kNone && m_varies[made] && !m_constant[made];
    });
  }
  bool isNeeded(std::uint32_t node) const { return m_needed[node]; }
  std::uint32_t classOf(std::uint32_t tensor) const { return m_equal[tensor]; }
  /// Returns the tensor itself if the compiler kept it, otherwise an equal tensor that it kept, otherwise the first
  /// equal tensor.
  std::uint32_t standIn(std::uint32_t tensor) const { return m_kept[tensor] ? tensor : m_standIn[m_equal[tensor]]; }

 private:
  void findStandIns() {
    m_standIn = m_equal;
    std::vector<bool> holdsConstant(m_equal.size());
    for (std::uint32_t i = 0; i < m_equal.size(); ++i) {
      if (m_kept[i] && !m_kept[m_standIn[m_equal[i]]]) m_standIn[m_equal[i]] = i;
      if (m_constant[i]) holdsConstant[m_equal[i]] = true;
    }
    for (std::uint32_t i = 0; i < m_equal.size(); ++i)
      if (!m_kept[i] && (holdsConstant[m_equal[i]] || m_network.isConstant(i))) m_constant[i] = true;
  }

  bool isConstantOrAbsent(std::uint32_t tensor) const { return tensor == kNone || m_constant[tensor]; }

  void findConstants() {
    for (const std::uint32_t index : m_network.order()) {
      const TensorGraph::Node& node = m_network.node(index);
      if (onnxlib::isRandom(*node.file) || (node.reads.empty() && node.file->op != "Constant")) continue;
      const bool isOverConstants =
          std::ranges::all_of(node.reads, [&](std::uint32_t read) { return isConstantOrAbsent(read); });
      if (!isOverConstants) continue;
      for (const std::uint32_t made : node.makes)
        if (made != kNone && !m_kept[made] && m_network.tensor(made).producer == index) m_constant[made] = true;
    }
  }

  /// Finds the nodes that calculate only constants, and the nodes that only such nodes read.
  void findFolded() {
    m_folded.resize(m_network.nodes().size());
    const std::vector<std::uint32_t>& order = m_network.order();
    for (auto index = order.rbegin(); index != order.rend(); ++index) {
      const TensorGraph::Node& node = m_network.node(*index);
      bool isFolded = true, isUsed = false;
      for (const std::uint32_t made : node.makes) {
        if (made == kNone) continue;
        const TensorGraph::Tensor& tensor = m_network.tensor(made);
        if (tensor.consumers.empty() && !tensor.isOutput && !m_constant[made]) continue;
        isUsed = true;
        isFolded = isFolded && (m_constant[made] || (!m_kept[made] && !tensor.isOutput && allFolded(tensor.consumers)));
      }
      m_folded[*index] = isUsed && isFolded;
    }
  }

  bool allFolded(const std::vector<std::uint32_t>& nodes) const {
    return std::ranges::all_of(nodes, [&](std::uint32_t node) { return m_folded[node]; });
  }

  void findNeeded() {
    m_needed.resize(m_network.nodes().size());
    std::vector<std::uint32_t> open;
    const auto need = [&](std::uint32_t tensor) {
      if (tensor == kNone) return;
      const std::uint32_t producer = m_network.tensor(tensor).producer;
      if (producer == kNone || m_needed[producer]) return;
      m_needed[producer] = true;
      open.push_back(producer);
    };
    for (std::uint32_t i = 0; i < m_equal.size(); ++i)
      if (m_network.tensor(i).isOutput) need(i);
    while (!open.empty()) {
      const std::uint32_t node = open.back();
      open.pop_back();
      for (const std::uint32_t read : m_network.node(node).reads) need(read);
    }
  }

  const TensorGraph& m_network;
  const std::vector<std::uint32_t>& m_equal;
  std::vector<bool> m_kept, m_constant, m_varies, m_folded, m_needed;
  std::vector<std::uint32_t> m_standIn;  // indexed by the number of equal tensors
};

/// Cuts regions out of a network, one after another.
class Slicer {
 public:
  Slicer(const TensorGraph& network, const Facts& facts)
      : m_network(network),
        m_facts(facts),
        m_ownClass(network.tensors().size(), 0),
        m_seen(network.tensors().size(), 0),
        m_stepsLeft(200'000 + 32 * (network.nodes().size() + network.tensors().size())) {}

  SliceCover cut(const SliceRegion& region) {
    ++m_region;
    m_cover = {};
    m_open.clear();
    for (const std::uint32_t input : region.inputs) m_ownClass[m_facts.classOf(input)] = m_region;
    m_inputs = region.inputs;
    for (const std::uint32_t output : region.outputs) m_seen[output] = m_region;
    for (const std::uint32_t output : region.outputs) start(output);
    while (!m_open.empty()) {
      const std::uint32_t tensor = m_open.back();
      m_open.pop_back();
      if (!spend()) return {.nodes = {}, .isClosed = false};
      meet(tensor);
    }
    std::ranges::sort(m_cover.nodes);
    m_cover.nodes.erase(std::unique(m_cover.nodes.begin(), m_cover.nodes.end()), m_cover.nodes.end());
    dropWhatPassesOn();
    return std::move(m_cover);
  }

 private:
  bool spend() { return m_stepsLeft > 0 && --m_stepsLeft > 0; }
  bool isOwn(std::uint32_t tensor) const { return m_ownClass[m_facts.classOf(tensor)] == m_region; }

  void start(std::uint32_t output) {
    if (std::ranges::find(m_inputs, output) != m_inputs.end()) return;  // an input of the region in another format
    if (isOwn(output)) {
      followPassedOn(output);
    } else {
      enter(output);
    }
  }

  /// `tensor` is equal to an input. Adds the nodes between them, which pass the input on.
  void followPassedOn(std::uint32_t tensor) {
    while (tensor != kNone && std::ranges::find(m_inputs, tensor) == m_inputs.end() && spend()) {
      const std::uint32_t producer = m_network.tensor(tensor).producer;
      if (producer == kNone) return;
      const std::uint32_t source = passedOn(m_network, producer);
      if (source == kNone) return;
      m_cover.nodes.push_back(producer);
      tensor = source;
    }
  }

  /// Adds the node that calculates `tensor`, regardless of what is known about that node.
  void enter(std::uint32_t tensor) {
    const std::uint32_t producer = m_network.tensor(tensor).producer;
    if (producer == kNone) {
      m_cover.isClosed = m_cover.isClosed && m_facts.isConstant(tensor);
      return;
    }
    m_cover.nodes.push_back(producer);
    if (const std::uint32_t source = passedOn(m_network, producer); source != kNone) {
      read(source);  // the source itself, because a tensor equal to it may be `tensor`
      return;
    }
    for (const std::uint32_t source : m_network.node(producer).reads)
      if (source != kNone) read(m_facts.standIn(source));
  }

  void read(std::uint32_t tensor) {
    if (m_seen[tensor] == m_region) return;
    m_seen[tensor] = m_region;
    m_open.push_back(tensor);
  }

  void meet(std::uint32_t tensor) {
    if (isOwn(tensor) || m_facts.isConstant(tensor)) return;
    if (m_facts.isKept(tensor)) {
      crossKept(tensor);
    } else {
      enter(tensor);
    }
  }

  /// Another region calculates `tensor`. This region may calculate it again from one of its own inputs that is another
  /// representation of the same numbers.
  void crossKept(std::uint32_t tensor) {
    std::vector<std::uint32_t> crossed;
    while (!isOwn(tensor)) {
      const std::uint32_t producer = m_network.tensor(tensor).producer;
      const std::uint32_t source = producer == kNone ? kNone : rewritten(m_network.node(producer));
      if (source == kNone || !spend()) {
        m_cover.isClosed = false;
        return;
      }
      crossed.push_back(producer);
      tensor = source;
    }
    m_cover.nodes.insert(m_cover.nodes.end(), crossed.begin(), crossed.end());
  }

  /// If the region contains nodes that calculate, removes the nodes that do nothing.
  void dropWhatPassesOn() {
    const auto doesNothing = [&](std::uint32_t node) { return passedOn(m_network, node) != kNone; };
    if (!std::ranges::all_of(m_cover.nodes, doesNothing)) std::erase_if(m_cover.nodes, doesNothing);
  }

  const TensorGraph& m_network;
  const Facts& m_facts;
  std::vector<std::uint32_t> m_ownClass, m_seen;  // the last region that contains, or has visited, each tensor
  std::vector<std::uint32_t> m_open, m_inputs;
  SliceCover m_cover;
  std::uint32_t m_region = 0;
  std::size_t m_stepsLeft;
};

/// Returns whether an equal node is calculated instead of this one.
bool isMerged(const TensorGraph& network, const Facts& facts, std::uint32_t index) {
  const std::vector<std::uint32_t>& makes = network.node(index).makes;
  return std::ranges::any_of(makes, [&](std::uint32_t made) {
    return made != kNone && network.tensor(made).producer == index && facts.standIn(made) != made;
  });
}

Fate fateOutsideOfCovers(const TensorGraph& network, const Facts& facts, std::uint32_t index) {
  if (!facts.isNeeded(index)) return Fate::Removed;
  if (facts.isFolded(index)) return facts.isForExtents(index) ? Fate::Removed : Fate::Folded;
  if (passedOn(network, index) != kNone) return Fate::Removed;
  if (isMerged(network, facts, index)) return Fate::Merged;
  return isView(*network.node(index).file) ? Fate::View : Fate::NotDisclosed;
}

}  // namespace

Slices sliceNetwork(const TensorGraph& network, const std::vector<std::uint32_t>& equal,
                    const RevealedTensors& revealed, std::span<const SliceRegion> regions) {
  const Facts facts(network, equal, revealed);
  Slicer slicer(network, facts);
  Slices slices;
  std::vector<bool> isCovered(network.nodes().size());
  for (const SliceRegion& region : regions) {
    slices.covers.push_back(slicer.cut(region));
    for (const std::uint32_t node : slices.covers.back().nodes) isCovered[node] = true;
  }
  for (std::uint32_t i = 0; i < network.nodes().size(); ++i)
    slices.fates.push_back(isCovered[i] ? Fate::Kernel : fateOutsideOfCovers(network, facts, i));
  return slices;
}

}  // namespace fusescope
