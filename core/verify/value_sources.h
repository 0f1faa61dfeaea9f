#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace fusescope {

class Graph;

/// The values from which each value is made, by name. An error can spread along these.
using ValueSources = std::map<std::string, std::vector<std::string>>;

/// Returns, for each of `known` and each output of `graph`, those of `known` from which it is made without another of
/// `known` in between.
ValueSources valueSourcesIn(const Graph& graph, const std::set<std::string>& known);

/// Returns the values from which errors can reach one of `outputs`: the outputs themselves, and what they are made of,
/// following only values that are not in `right`. For example, a mask whose -3e38 becomes infinite does not affect its
/// readers.
std::set<std::string> leadingTo(std::vector<std::string> outputs, const ValueSources& sources,
                                const std::set<std::string>& right);

}  // namespace fusescope
