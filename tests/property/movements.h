#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "tests/property/arrays.h"

namespace fusescope::property {

/// Operators that move elements and calculate none.
bool isMovement(std::string_view op);
/// What they make of their operands; nothing for other operators, or if an index is out of range.
std::optional<std::vector<Array>> calculateMovement(const Graph& graph, const Node& node,
                                                    const std::vector<const Array*>& operands);

}  // namespace fusescope::property
