#pragma once

#include <cstdint>
#include <vector>

#include "ir/graph.h"

namespace fusescope {

/// One use of a node's result by a node: which output, as which operand.
struct Link {
  NodeId node;  ///< the one at the other end
  std::uint32_t output = 0;
  std::uint32_t operand = 0;
};

/// Who reads whom, by NodeId; captures of bodies count as operands.
struct NodeLinks {
  std::vector<std::vector<Link>> reads;    ///< by operand
  std::vector<std::vector<Link>> readers;  ///< in graph order
};
NodeLinks linksOf(const Graph& graph);

/// What of a node its fingerprint holds. Strict: operator, attributes, types of constants and the elements of small
/// ones (axes, extents, scales). Loose: the operator and how many operands it has.
enum class Likeness { Strict, Loose };
/// By NodeId; 0 where there is none. Weights' elements and all names count for nothing.
std::vector<std::uint64_t> fingerprints(const Graph& graph, Likeness likeness);

/// By ValueId: what tells the inputs, or the outputs, of the network apart; 0 for others.
struct BorderLabels {
  std::vector<std::uint64_t> inputs, outputs;
};

/// Any number of steps.
inline constexpr int kWholeNetwork = -1;
/// By NodeId: a hash of what it is calculated from within `steps` steps, itself included. Equal graphs have equal ones.
std::vector<std::uint64_t> labelsFromInputs(const Graph& graph, const NodeLinks& links, const BorderLabels& borders,
                                            const std::vector<std::uint64_t>& own, int steps);
/// The same of what is made of it.
std::vector<std::uint64_t> labelsFromOutputs(const Graph& graph, const NodeLinks& links, const BorderLabels& borders,
                                             const std::vector<std::uint64_t>& own, int steps);

std::uint64_t mixed(std::uint64_t a, std::uint64_t b);

}  // namespace fusescope
