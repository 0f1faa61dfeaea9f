#include "analysis/users.h"

#include <algorithm>

#include "ir/graph.h"

namespace fusescope {

std::vector<ValueId> valuesRead(const Node& node) {
  std::vector<ValueId> read;
  const auto add = [&](ValueId value) {
    if (value.valid() && std::find(read.begin(), read.end(), value) == read.end()) read.push_back(value);
  };
  for (ValueId value : operands(node)) add(value);
  return read;
}

bool hasSingleUse(const Graph& graph, ValueId value) {
  return graph.value(value).consumers.size() == 1 && !graph.isOutput(value);
}

}  // namespace fusescope
