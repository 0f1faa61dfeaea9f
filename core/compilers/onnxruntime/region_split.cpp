#include "compilers/onnxruntime/region_split.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace fusescope::onnxruntime {
namespace {

constexpr std::size_t kMostPairs = 1'000'000;  ///< the most pairs of kernels and nodes in a region that is split
constexpr std::size_t kMostSeen = 64;          ///< the most nodes that are searched around a node without a kernel

/// The nodes of one region, and the kernels that can contain them.
class Splitter {
 public:
  Splitter(const Network& network, const Optimised& optimised, std::span<const std::uint32_t> kernels,
           const SliceCover& cover)
      : m_network(network),
        m_optimised(optimised),
        m_kernels(kernels),
        m_cover(cover),
        m_calculating(onlyCalculating()) {}

  std::vector<HeldNode> run() {
    if (m_kernels.size() * m_cover.nodes.size() > kMostPairs) return {};
    for (const std::uint32_t kernel : m_kernels) nameNode(kernel);
    nameResults();
    takeEqualOperators();
    const bool isProved = m_cover.isClosed && !hasUnsureResult();
    for (const std::uint32_t node : m_cover.nodes)
      if (!m_kernelOf.contains(node)) place(node, isProved);
    std::vector<HeldNode> held;
    for (const std::uint32_t node : m_cover.nodes)
      if (const auto found = m_kernelOf.find(node); found != m_kernelOf.end()) {
        if (m_refuted.contains(node)) found->second.certainty = Certainty::Guessed;
        held.push_back(found->second);
      }
    shareOnlyNode(isProved, held);
    return held;
  }

 private:
  const onnxlib::FileNode& fileOf(std::uint32_t kernel) const { return *m_optimised.graph.node(kernel).file; }
  const onnxlib::FileNode& nodeOf(std::uint32_t node) const { return *m_network.graph.node(node).file; }
  bool isCovered(std::uint32_t node) const { return std::ranges::binary_search(m_cover.nodes, node); }

  /// A kernel that only changes the form of numbers can contain nodes that do the same; a kernel that calculates can
  /// contain any node.
  bool canHold(std::uint32_t kernel, std::uint32_t node) const {
    const Work can = workOf(fileOf(kernel).op), needs = workOf(nodeOf(node).op);
    if (can == Work::Calculates || can == needs) return true;
    return can == Work::Moves && needs == Work::Rewrites;
  }

  void hold(std::uint32_t node, std::uint32_t kernel, Certainty certainty) {
    const auto [held, isNew] =
        m_kernelOf.try_emplace(node, HeldNode{.node = node, .kernel = kernel, .certainty = certainty});
    held->second.certainty = std::min(held->second.certainty, certainty);
    if (isNew) m_holders.insert(kernel);
  }

  /// Adds the node after which the kernel is named.
  void nameNode(std::uint32_t kernel) {
    const std::uint32_t node = nodeNamedBy(m_network.graph, fileOf(kernel).name);
    if (node != kNone && isCovered(node) && canHold(kernel, node)) hold(node, kernel, Certainty::Named);
  }

  /// Adds the nodes that calculate the results of the region, found by the tensors' names or by their numbers.
  void nameResults() {
    for (const std::uint32_t kernel : m_kernels)
      for (const std::uint32_t made : m_optimised.graph.node(kernel).makes) {
        if (made == kNone || m_optimised.bindings[made].tensor == kNone) continue;
        const TensorBinding& binding = m_optimised.bindings[made];
        const std::uint32_t node = m_network.graph.tensor(binding.tensor).producer;
        if (node == kNone || !isCovered(node)) continue;
        if (binding.proof == Proof::Different) m_refuted.insert(node);
        const Certainty certainty = certaintyOf(binding);
        if (canHold(kernel, node)) {
          hold(node, kernel, certainty);
        } else {
          m_results.emplace(node, certainty);
        }
      }
  }

  static Certainty certaintyOf(const TensorBinding& binding) {
    if (binding.proof == Proof::Equal) return Certainty::Verified;
    return binding.isNamed && binding.proof == Proof::Unknown ? Certainty::Named : Certainty::Guessed;
  }

  /// Kernels that only move or convert and have no node yet get the first node with the same operator.
  void takeEqualOperators() {
    if (m_kernels.size() == 1) return;
    for (const std::uint32_t kernel : m_kernels) {
      if (workOf(fileOf(kernel).op) == Work::Calculates || m_holders.contains(kernel)) continue;
      for (const std::uint32_t node : m_cover.nodes)
        if (nodeOf(node).op == fileOf(kernel).op && !m_kernelOf.contains(node)) {
          hold(node, kernel, Certainty::Guessed);
          break;
        }
    }
  }

  /// Returns whether a result is known neither by its name nor by its numbers.
  bool hasUnsureResult() const {
    for (const std::uint32_t kernel : m_kernels)
      for (const std::uint32_t made : m_optimised.graph.node(kernel).makes)
        if (made != kNone && m_optimised.bindings[made].tensor != kNone &&
            certaintyOf(m_optimised.bindings[made]) == Certainty::Guessed)
          return true;
    return false;
  }

  /// Assigns a node that has no other evidence: to the only kernel that can contain it, otherwise to the kernel of its
  /// neighbours.
  void place(std::uint32_t node, bool isProved) {
    std::vector<std::uint32_t> able;
    for (const std::uint32_t kernel : m_kernels)
      if (canHold(kernel, node)) able.push_back(kernel);
    if (able.empty()) return;
    const Certainty certainty = isProved ? Certainty::Derived : Certainty::Guessed;
    const bool isOnly = able.size() == 1 || (workOf(nodeOf(node).op) == Work::Calculates && m_calculating != kNone);
    if (isOnly) {
      const auto found = m_results.find(node);
      return hold(node, able.size() == 1 ? able[0] : m_calculating,
                  found == m_results.end() ? certainty : std::min(found->second, certainty));
    }
    for (const bool isForward : {true, false})
      if (const std::uint32_t kernel = kernelOfNeighbour(node, isForward); kernel != kNone)
        return hold(node, kernel, Certainty::Guessed);
    hold(node, able.back(), Certainty::Guessed);
  }

  /// Handles a node that became several kernels: kernels that calculate and have no node calculate parts of the only
  /// node that calculates. For example, Softmax in a type without a kernel becomes ReduceMax, Sub, Exp, ReduceSum and
  /// Div.
  void shareOnlyNode(bool isProved, std::vector<HeldNode>& held) const {
    std::uint32_t only = kNone;
    for (const std::uint32_t node : m_cover.nodes) {
      if (workOf(nodeOf(node).op) != Work::Calculates) continue;
      if (only != kNone) return;
      only = node;
    }
    if (only == kNone || !m_kernelOf.contains(only)) return;
    for (const std::uint32_t kernel : m_kernels)
      if (workOf(fileOf(kernel).op) == Work::Calculates && !m_holders.contains(kernel))
        held.push_back(
            {.node = only, .kernel = kernel, .certainty = isProved ? Certainty::Derived : Certainty::Guessed});
  }

  std::uint32_t onlyCalculating() const {
    std::uint32_t found = kNone;
    for (const std::uint32_t kernel : m_kernels) {
      if (workOf(fileOf(kernel).op) != Work::Calculates) continue;
      if (found != kNone) return kNone;
      found = kernel;
    }
    return found;
  }

  /// Returns the kernel of the nearest node after (or before) this one within the cover whose kernel can contain this
  /// node.
  std::uint32_t kernelOfNeighbour(std::uint32_t start, bool isForward) const {
    std::vector<std::uint32_t> seen{start};
    for (std::size_t i = 0; i < seen.size() && seen.size() < kMostSeen; ++i)
      for (const std::uint32_t next : neighbours(seen[i], isForward)) {
        if (!isCovered(next) || std::ranges::find(seen, next) != seen.end()) continue;
        const auto known = m_kernelOf.find(next);
        if (known != m_kernelOf.end() && canHold(known->second.kernel, start)) return known->second.kernel;
        seen.push_back(next);
      }
    return kNone;
  }

  std::vector<std::uint32_t> neighbours(std::uint32_t index, bool isForward) const {
    const TensorGraph::Node& node = m_network.graph.node(index);
    std::vector<std::uint32_t> found;
    for (const std::uint32_t tensor : isForward ? node.makes : node.reads) {
      if (tensor == kNone) continue;
      const TensorGraph::Tensor& between = m_network.graph.tensor(tensor);
      if (isForward) {
        found.insert(found.end(), between.consumers.begin(), between.consumers.end());
      } else if (between.producer != kNone) {
        found.push_back(between.producer);
      }
    }
    return found;
  }

  const Network& m_network;
  const Optimised& m_optimised;
  std::span<const std::uint32_t> m_kernels;
  const SliceCover& m_cover;
  std::uint32_t m_calculating;                   // the only kernel that calculates, or kNone
  std::map<std::uint32_t, HeldNode> m_kernelOf;  // by node
  std::map<std::uint32_t, Certainty> m_results;  // nodes whose result another kernel of the region writes
  std::set<std::uint32_t> m_refuted;             // nodes whose results have other numbers
  std::set<std::uint32_t> m_holders;             // kernels with a node
};

}  // namespace

Work workOf(std::string_view op) {
  constexpr std::array<std::string_view, 15> moves{
      "Reshape", "Squeeze", "Unsqueeze", "Flatten",      "Transpose",     "Identity",     "Split",       "Slice",
      "Concat",  "Expand",  "Gather",    "ReorderInput", "ReorderOutput", "SpaceToDepth", "DepthToSpace"};
  constexpr std::array<std::string_view, 3> rewrites{"Cast", "QuantizeLinear", "DequantizeLinear"};
  if (std::ranges::find(moves, op) != moves.end()) return Work::Moves;
  return std::ranges::find(rewrites, op) != rewrites.end() ? Work::Rewrites : Work::Calculates;
}

std::vector<HeldNode> splitRegion(const Network& network, const Optimised& optimised,
                                  std::span<const std::uint32_t> kernels, const SliceCover& cover) {
  return Splitter(network, optimised, kernels, cover).run();
}

}  // namespace fusescope::onnxruntime
