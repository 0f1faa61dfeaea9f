#pragma once

#include "planning/plan.h"

namespace fusescope {

struct Node;

/// Returns the narrow float type, f16 or bf16, to which `node` rounds operand `i` when it reads it from memory, or
/// Undefined if it does not round it.
DataType narrowReadType(const Plan& plan, const Node& node, std::size_t i);

/// Returns whether `node` only moves elements of its operands, or casts between floats.
bool movesElements(const Plan& plan, NodeId node);

}  // namespace fusescope
