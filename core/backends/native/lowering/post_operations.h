#pragma once

#include <functional>

#include <dnnl.hpp>

#include "backends/native/lowering/epilogue_chain.h"

namespace fusescope {
struct Node;
}  // namespace fusescope

namespace fusescope::native {

/// Appends the post-operation of an Activation or a Swish. Returns false, and appends nothing, for other operations and
/// for an activation that oneDNN does not calculate as ONNX defines it, or not from what is known about it. `node` is
/// that of the operation; `constantNumber` returns the value of a constant of one element.
bool appendActivation(dnnl::post_ops& operations, const Chain::Operation& operation, const Node& node,
                      const std::function<std::optional<float>(ValueId)>& constantNumber);

/// Returns a separate list; copies that oneDNN's copy constructor makes share one list.
dnnl::post_ops copyOf(const dnnl::post_ops& operations);

/// Returns whether oneDNN's result may be a number where it should be NaN, or NaN where it should be infinite. In that
/// case the processor sets its flag for invalid operations (number_checks.h).
bool mayLoseNumbers(const Node& node);

}  // namespace fusescope::native
