#pragma once

#include <optional>
#include <vector>

#include "ir/graph.h"
#include "tests/property/arrays.h"

namespace fusescope::property {

/// What a node makes of its operands (null: absent), in doubles, straight from the operators' definitions; nothing of
/// the project's kernels. Nothing if the operator is not known here. Nothing is rounded but what the operator itself
/// rounds: a Cast to integers, a quantiser, Floor.
std::optional<std::vector<Array>> calculate(const Graph& graph, const Node& node,
                                            const std::vector<const Array*>& operands);

}  // namespace fusescope::property
