#pragma once

#include <vector>

#include "ir/decision.h"
#include "ir/graph.h"

namespace fusescope {

/// A decision for each operator that works as in training, and for each constant with elements that are not a number,
/// are infinite (unless it has one element) or are denormal. Of constants, the first GiB is looked at.
void recordNetworkFindings(const Graph& graph, std::vector<Decision>& decisions);

}  // namespace fusescope
