#pragma once

#include <vector>

#include "ir/model.h"

namespace fusescope {

/// One spec per input of the graph: fixed extents from the file; others assumed, each with a Decision.
std::vector<InputSpec> specsOf(const Graph& graph, std::vector<Decision>& decisions);

}  // namespace fusescope
