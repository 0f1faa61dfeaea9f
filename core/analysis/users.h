#pragma once

#include <vector>

#include "base/ids.h"

namespace fusescope {

class Graph;
struct Node;

/// Returns the values that a node reads: its inputs and the values that its bodies capture, without duplicates, in the
/// order of first use.
std::vector<ValueId> valuesRead(const Node& node);

/// Returns whether exactly one node reads `value`, and it is not an output of the graph.
bool hasSingleUse(const Graph& graph, ValueId value);

}  // namespace fusescope
