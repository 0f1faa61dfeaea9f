#pragma once

#include <vector>

#include "ir/graph.h"

namespace fusescope {

/// The values a node reads: its inputs and what its subgraphs capture; each once, in first-use order.
std::vector<ValueId> valuesRead(const Node& node);

/// Whether `value` is read by exactly one node and is no output of the graph.
bool hasSingleUse(const Graph& graph, ValueId value);

}  // namespace fusescope
