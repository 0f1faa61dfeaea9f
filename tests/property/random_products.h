#pragma once

#include <optional>
#include <vector>

#include "ir/graph.h"
#include "tests/property/arrays.h"

namespace fusescope::property {

/// MatMul, Gemm, Conv and pools in doubles; nothing for other operators.
std::optional<Array> calculateProduct(const Graph& graph, const Node& node, const std::vector<const Array*>& operands);

}  // namespace fusescope::property
