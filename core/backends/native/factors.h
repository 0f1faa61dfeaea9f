#pragma once

#include "backends/native/context.h"

namespace fusescope::native {

/// The narrow float that oneDNN is to multiply the two operands of `root` in; f32 where they are to be widened.
DataType multiplies(const Context& context, const Node& root);
/// An operand that is multiplied in `type`.
Result<Ref> factor(Context& context, ValueId value, DataType type);

}  // namespace fusescope::native
