#pragma once

#include <functional>
#include <optional>

#include <dnnl.hpp>

#include "backends/native/lowering.h"

namespace fusescope::native {

/// Appends the post-operation of an activation node. `number` reads a constant of one element (the ends of a Clip).
/// Nothing for an activation that oneDNN does not compute as ONNX means it.
bool appendActivation(dnnl::post_ops& operations, const Node& node,
                      const std::function<std::optional<float>(ValueId)>& number);

}  // namespace fusescope::native
