#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"

namespace fusescope {

class Graph;

/// One use of a node's result by another node: which output is which operand.
struct Link {
  NodeId node;  ///< the node at the other end
  std::uint32_t output = 0;
  std::uint32_t operand = 0;
};

/// The edges of a graph, indexed by NodeId; captures of bodies count as operands.
struct NodeLinks {
  std::vector<std::vector<Link>> reads;    ///< by operand
  std::vector<std::vector<Link>> readers;  ///< in graph order
};
NodeLinks linksOf(const Graph& graph);

/// What the fingerprint of a node includes. Strict: operator, attributes, types of constants and the elements of small
/// ones (axes, extents, scales). Loose: the operator and the number of operands.
enum class Likeness { Strict, Loose };
/// Returns the fingerprint for each NodeId; 0 if there is no node. Elements of weights and all names are ignored.
std::vector<std::uint64_t> fingerprints(const Graph& graph, Likeness likeness);

/// Labels for each ValueId that distinguish the inputs, or the outputs, of the network; 0 for other values.
struct BorderLabels {
  std::vector<std::uint64_t> inputs, outputs;
};

/// No limit on the number of steps.
inline constexpr int kWholeNetwork = -1;
/// Returns for each NodeId a hash of everything that it is calculated from within `steps` steps, including itself.
/// Equal graphs have equal hashes.
std::vector<std::uint64_t> labelsFromInputs(const Graph& graph, const NodeLinks& links, const BorderLabels& borders,
                                            const std::vector<std::uint64_t>& own, int steps);
/// Returns the same for everything that is calculated from it.
std::vector<std::uint64_t> labelsFromOutputs(const Graph& graph, const NodeLinks& links, const BorderLabels& borders,
                                             const std::vector<std::uint64_t>& own, int steps);

std::uint64_t mixed(std::uint64_t a, std::uint64_t b);

}  // namespace fusescope
