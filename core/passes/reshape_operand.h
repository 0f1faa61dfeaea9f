#pragma once

#include <optional>

#include "ir/tensor_type.h"

namespace fusescope {

/// Returns the shape operand of a Reshape from `from` to `to`: numbers, 0 where an extent is kept, and -1 for at most
/// one extent. Returns nothing if that is not possible.
std::optional<Dims> reshapeOperand(const Shape& from, const Shape& to);

}  // namespace fusescope
