#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planning/plan.h"

namespace fusescope {

class Graph;

/// Returns whether `value` cannot be placed in an arena because it is text, a container, or has extents that are not
/// known before it is made. `types` are the types that inferShapes() returns.
bool isBoxed(const Graph& graph, const std::vector<TensorType>& types, ValueId value);

/// Returns why no kernel can be prepared for `fused` ahead of time ("'kept' has extents that depend on data"): it reads
/// or writes a boxed value, or it has a body. Returns nothing if a kernel can be prepared.
std::optional<std::string> whyDynamic(const Graph& graph, const std::vector<TensorType>& types, const FusedNode& fused);

}  // namespace fusescope
