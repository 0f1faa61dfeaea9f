#pragma once

#include <span>
#include <string>

#include "ops/type_flow.h"

namespace fusescope {

/// Infers the types in the body in `attribute` of `node`. `types` and `constants` have the types and known values of
/// the node's operands. Types that the body declares are used only where none can be computed.
Result<TypeFlow> flowBody(const Node& node, const std::string& attribute, std::span<const TensorType* const> types,
                          std::span<const Tensor* const> constants);

}  // namespace fusescope
