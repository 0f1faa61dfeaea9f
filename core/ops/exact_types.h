#pragma once

#include <cstddef>

namespace fusescope {

struct Node;

/// Returns whether the node depends on the exact types of its float operands, so that they must not be replaced by
/// wider types: it reads their bits, or takes the type of its result from an operand.
bool needsExactTypes(const Node& node);

/// Returns whether operand `i` of such a node only determines how to convert: a scale, a zero point, or a tensor whose
/// type is used. Precision does not change the type of such an operand.
bool isConversionParameter(const Node& node, std::size_t i);

}  // namespace fusescope
