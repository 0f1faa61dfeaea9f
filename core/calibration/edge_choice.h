#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "calibration/products.h"
#include "calibration/quantize_graph.h"

namespace fusescope {

/// An edge that becomes codes of 8 bits: number = (code - zero) · scale.
struct CodedEdge {
  ValueId value;
  DataType type = DataType::I8;
  float scale = 1;
  std::int32_t zero = 0;
  std::set<NodeId> readers;  ///< that read the codes; others go on reading floats
};

struct EdgeChoice {
  std::vector<Product> products;  ///< of integers, in graph order
  std::vector<Product> floats;  ///< other products by constants, in graph order: those whose weights alone may be codes
  std::map<ValueId, CodedEdge> edges;
  std::vector<Decision> decisions;
};

/// The values whose ranges a choice may ask for, in id order.
std::vector<ValueId> valuesToObserve(const Graph& graph);

/// Why the weights of a product cannot be codes, as arguments of quantize.weights_not_finite; nothing where they can.
std::optional<Json> whyNoCodes(const Graph& graph, const Product& product);

/// Which products multiply integers, and which edges are codes for it. Pure.
EdgeChoice chooseEdges(const Graph& graph, const QuantizeRequest& request);

}  // namespace fusescope
