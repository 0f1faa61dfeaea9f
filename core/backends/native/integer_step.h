#pragma once

#include "backends/native/program.h"
#include "ir/graph.h"

namespace fusescope::native {

/// Whether makeIntegerStep() can run `node`: arithmetic of two integers (int64, int32, int8, uint8), their comparison,
/// Neg, Abs, and Where over elements of any whole number of bytes up to 8.
bool hasIntegerStep(const Node& node, std::span<const DataType> inputs);

/// Element by element over broadcast plain operands; `target` is plain and has the broadcast extents. Integers wrap;
/// division truncates towards zero and is an error where the divisor is 0. Allocates nothing while it runs.
std::unique_ptr<Step> makeIntegerStep(const Node& node, const std::vector<Ref>& operands, const Ref& target);

}  // namespace fusescope::native
