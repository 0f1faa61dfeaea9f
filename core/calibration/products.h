#pragma once

#include <string>
#include <variant>

#include "base/json.h"
#include "ir/graph.h"

namespace fusescope {

/// A node whose sums can be of integers: what it reads and multiplies by.
struct Product {
  NodeId node;
  ValueId source, weights;
  std::int64_t outputAxis = 0;  ///< of the weights: each place is a channel of the result
  std::int64_t sumAxis = 1;     ///< of the weights: what is summed, of two axes the other one
  std::int64_t sourceAxis = 1;  ///< of the source: the channels that are summed
};

/// Why a node that multiplies stays in floats: a code of quantize.* and its arguments.
struct NoProduct {
  std::string code;
  Json arguments = Json::object();
};

/// Whether the node multiplies at all: Conv, ConvTranspose, MatMul or Gemm.
bool multiplies(const Node& node);
/// A node that multiplies, by weights that are float32 constants; else why it is none that integers can do.
std::variant<Product, NoProduct> productOf(const Graph& graph, const Node& node);

}  // namespace fusescope
