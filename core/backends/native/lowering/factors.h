#pragma once

#include "backends/native/lowering/context.h"

namespace fusescope {
struct Node;
}  // namespace fusescope

namespace fusescope::native {

/// Returns the narrow float in which oneDNN multiplies the two operands of `root`; f32 if they must be widened.
DataType multiplies(const Context& context, const Node& root);
/// Returns an operand in the type in which it is multiplied.
Result<Ref> factor(Context& context, ValueId value, DataType type);

}  // namespace fusescope::native
