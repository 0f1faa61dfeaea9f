#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/model.h"

namespace fusescope {

/// One spec per input of the graph: fixed extents from the file; of the others what its `metadata` says under our key,
/// else the range that PyTorch's exporter left in the `graphMetadata`; others as is usual for their place ("assumed").
/// What of an open extent nobody says, fitInputSpecs() finds: what the network takes. Metadata that cannot be meant for
/// an input leaves a decision.
std::vector<InputSpec> specsOf(const Graph& graph, const std::map<std::string, std::string>& metadata,
                               const std::map<std::string, std::string>& graphMetadata,
                               std::vector<Decision>& decisions);

}  // namespace fusescope
