#pragma once

#include <string>
#include <variant>

#include "base/ids.h"
#include "ir/decision_arguments.h"

namespace fusescope {

class Graph;
struct Node;

/// A node whose sums can be calculated in integers, with the operand that it reads and its weights.
struct Product {
  NodeId node;
  ValueId source, weights;
  std::int64_t outputAxis = 0;  ///< axis of the weights: each index is a channel of the result
  std::int64_t sumAxis = 1;     ///< axis of the weights that is summed; if there are two axes, the other one
  std::int64_t sourceAxis = 1;  ///< axis of the source: the channels that are summed
};

/// Why a node that multiplies is not quantised: a code of quantize.* and its arguments.
struct NoProduct {
  std::string code;
  DecisionArguments arguments = {};
};

/// Returns whether the node is a product at all: Conv, ConvTranspose, MatMul or Gemm.
bool multiplies(const Node& node);
/// Returns a node whose weights are float32 constants as a product, or why it cannot run in integers.
std::variant<Product, NoProduct> productOf(const Graph& graph, const Node& node);

}  // namespace fusescope
