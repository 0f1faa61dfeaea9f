#pragma once

#include "planning/plan.h"

namespace fusescope {

/// The narrow float, f16 or bf16, to which `node` rounds operand `i` where it reads it from memory; Undefined: it takes
/// it as it is.
DataType narrowReadType(const Plan& plan, const Node& node, std::size_t i);

/// Whether `node` only moves elements of its operands or casts between floats.
bool movesElements(const Plan& plan, NodeId node);

}  // namespace fusescope
