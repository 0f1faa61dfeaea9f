#pragma once

#include <vector>

#include "ir/decision.h"
#include "ir/graph.h"

namespace fusescope {

/// A decision for each operator that works as in training, and for each constant with elements that are not a number or
/// are denormal. Of constants, the first 256 MiB are looked at.
void recordNetworkFindings(const Graph& graph, std::vector<Decision>& decisions);

}  // namespace fusescope
