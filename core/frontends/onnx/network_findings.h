#pragma once

#include <vector>

#include "ir/decision.h"

namespace fusescope {

class Graph;

/// Adds a decision for each operator that works as in training, and for each constant with NaN, infinite (unless it has
/// only one element) or denormal elements. Only the first GiB of constants is checked.
void recordNetworkFindings(const Graph& graph, std::vector<Decision>& decisions);

}  // namespace fusescope
