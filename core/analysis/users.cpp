#include "analysis/users.h"

#include <algorithm>

namespace fusescope {

std::vector<ValueId> valuesRead(const Node& node) {
  std::vector<ValueId> read;
  const auto add = [&](ValueId value) {
    if (value.valid() && std::find(read.begin(), read.end(), value) == read.end()) read.push_back(value);
  };
  for (ValueId value : node.inputs) add(value);
  for (const auto& [key, attribute] : node.attributes) {
    if (const auto* subgraph = std::get_if<Subgraph>(&attribute)) {
      for (ValueId value : subgraph->captures) add(value);
    }
  }
  return read;
}

bool hasSingleUse(const Graph& graph, ValueId value) {
  return graph.value(value).consumers.size() == 1 && !graph.isOutput(value);
}

}  // namespace fusescope
