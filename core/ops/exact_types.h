#pragma once

#include <cstddef>

#include "ir/graph.h"

namespace fusescope {

/// Whether what the node does depends on the very types of its floats, so that it cannot be given wider ones: it reads
/// their bits, or takes the type of its result from an operand.
bool needsExactTypes(const Node& node);

/// Whether operand `i` of such a node only says how to convert (a scale, a zero point, a tensor whose type is taken):
/// precision leaves its type alone.
bool saysHowToConvert(const Node& node, std::size_t i);

}  // namespace fusescope
