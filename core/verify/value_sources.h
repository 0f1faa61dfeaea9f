#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace fusescope {

/// What values are made of, by name: what an error may do next.
using ValueSources = std::map<std::string, std::vector<std::string>>;

/// Of each of `known` and each output of `graph`: those of `known` that it is made of with none of `known` in between.
ValueSources valueSourcesIn(const Graph& graph, const std::set<std::string>& known);

/// The values from which errors reach one of `outputs`: these, and what they are made of, as far as the way leads over
/// values that are not `right`. What makes -3e38 of a mask infinite harms nobody who reads it.
std::set<std::string> leadingTo(std::vector<std::string> outputs, const ValueSources& sources,
                                const std::set<std::string>& right);

}  // namespace fusescope
