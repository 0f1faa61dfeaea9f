#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planning/plan.h"

namespace fusescope {

/// Whether no arena can hold `value`: text, a container, or extents that are not known before it is made. `types` as
/// inferShapes() gives them.
bool isBoxed(const Graph& graph, const std::vector<TensorType>& types, ValueId value);

/// Why no kernel can be prepared for `fused` ahead of time ("'kept' has extents that depend on data"): it reads or
/// makes something boxed, or has a body. Nothing if one can.
std::optional<std::string> whyDynamic(const Graph& graph, const std::vector<TensorType>& types, const FusedNode& fused);

}  // namespace fusescope
