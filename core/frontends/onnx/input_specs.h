#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/model.h"

namespace fusescope {

class Graph;

/// Makes one spec per input of the graph. Fixed extents are taken from the file. For open extents, `metadata` under our
/// key takes precedence, then the range that PyTorch's exporter wrote into `graphMetadata`, then the usual extent for
/// the position ("assumed"); fitInputSpecs() replaces assumed extents by those that the network can run. A decision
/// records metadata that do not fit an input.
std::vector<InputSpec> specsOf(const Graph& graph, const std::map<std::string, std::string>& metadata,
                               const std::map<std::string, std::string>& graphMetadata,
                               std::vector<Decision>& decisions);

}  // namespace fusescope
