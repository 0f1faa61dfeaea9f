#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/model.h"

namespace fusescope {

/// One spec per input of the graph: fixed extents from the file; what its `metadata` says of the others; others as is
/// usual for their place ("assumed"), until fitInputSpecs() finds what the network takes. Metadata that cannot be meant
/// for an input leaves a decision.
std::vector<InputSpec> specsOf(const Graph& graph, const std::map<std::string, std::string>& metadata,
                               std::vector<Decision>& decisions);

}  // namespace fusescope
