#pragma once

#include "backends/native/region_program.h"

namespace fusescope {
struct Node;
}  // namespace fusescope

namespace fusescope::native {

/// Returns whether makeIntegerStep() can run `node`: arithmetic of two integers (int64, int32, int8, uint8), their
/// comparison, Neg, Abs, and Where for elements of 1 to 8 whole bytes.
bool hasIntegerStep(const Node& node, std::span<const DataType> inputs);

/// Makes a step that works element by element over broadcast plain operands; `target` is plain and has the broadcast
/// extents. Integers wrap; division truncates towards zero, and a divisor of 0 is an error. It allocates nothing while
/// it runs.
std::unique_ptr<Step> makeIntegerStep(const Node& node, const std::vector<Ref>& operands, const Ref& target);

}  // namespace fusescope::native
