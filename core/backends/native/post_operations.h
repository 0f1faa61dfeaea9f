#pragma once

#include <functional>

#include <dnnl.hpp>

#include "backends/native/epilogue_chain.h"

namespace fusescope::native {

/// What may follow a convolution or product in one kernel; appendActivation() says what oneDNN calculates of it.
bool isActivation(const Node& node);

/// Appends the post-operation of an Activation or a Swish. False, and nothing is appended, for other operations and for
/// an activation that oneDNN does not compute as ONNX means it, or not with what is known of it. `node` is that of the
/// operation, `constantNumber` gives the value of a constant of one element.
bool appendActivation(dnnl::post_ops& operations, const Chain::Operation& operation, const Node& node,
                      const std::function<std::optional<float>(ValueId)>& constantNumber);

/// A list of its own: oneDNN's copies are one list.
dnnl::post_ops copyOf(const dnnl::post_ops& operations);

/// Whether what oneDNN calculates of it may be a number where NaN is due, or NaN where infinity is. It meets something
/// invalid then (number_checks.h).
bool mayLoseNumbers(const Node& node);

}  // namespace fusescope::native
