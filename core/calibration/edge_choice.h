#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "calibration/products.h"
#include "calibration/quantize_request.h"
#include "ir/decision.h"

namespace fusescope {

class Graph;

/// An edge that is stored as codes of 8 bits: number = (code - zero) · scale.
struct CodedEdge {
  ValueId value;
  DataType type = DataType::I8;
  float scale = 1;
  std::int32_t zero = 0;
  std::set<NodeId> readers;  ///< the nodes that read the codes; other nodes read floats
};

struct EdgeChoice {
  std::vector<Product> products;  ///< products in integers, in graph order
  /// The other products by constants, in graph order; only their weights may become codes.
  std::vector<Product> floats;
  std::map<ValueId, CodedEdge> edges;
  std::vector<Decision> decisions;
};

/// Returns the values whose ranges may be needed, in id order.
std::vector<ValueId> valuesToObserve(const Graph& graph);

/// Returns why the weights of a product cannot become codes, as arguments of quantize.weights_not_finite, or nothing if
/// they can.
std::optional<DecisionArguments> whyNoCodes(const Graph& graph, const Product& product);

/// Chooses the products that run in integers, and the edges that become codes for them. A pure function.
EdgeChoice chooseEdges(const Graph& graph, const QuantizeRequest& request);

}  // namespace fusescope
