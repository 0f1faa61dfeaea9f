#pragma once

#include <vector>

#include "ir/model.h"

namespace fusescope {

/// One spec per input of the graph: fixed extents from the file; others as is usual for their place ("assumed"), until
/// fitInputSpecs() finds what the network takes.
std::vector<InputSpec> specsOf(const Graph& graph);

}  // namespace fusescope
