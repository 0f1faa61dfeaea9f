#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/stop.h"
#include "ir/graph.h"
#include "ops/op_schema.h"

namespace fusescope {

/// Infers the types of a node's outputs. `inputs` and `constants` have one element per operand (operands() of
/// ir/graph.h). It checks the number of inputs, runs the schema's function, and locates errors at the node. An operator
/// without a schema has outputs of unknown type. `demands`, if not null, gets what the node needs of open extents.
Result<std::vector<TensorType>> inferNode(const Node& node, std::span<const TensorType* const> inputs,
                                          std::span<const Tensor* const> constants,
                                          std::vector<ExtentDemand>* demands = nullptr);
/// Runs the reference kernel of a node. `inputs` has one element per operand. If the operator has no kernel, the error
/// names it. Only control flow checks `stop`; the time of all other kernels is limited by the size of their tensors.
Result<std::vector<Tensor>> runNode(const Node& node, std::span<const Tensor* const> inputs,
                                    const StopToken& stop = {});
/// Returns the number of floating-point operations of a node, as FlopsFunction counts them.
std::int64_t flopsOf(const Node& node, std::span<const Dims> inputs, std::span<const Dims> outputs);

}  // namespace fusescope
