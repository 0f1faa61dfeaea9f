#pragma once

#include <optional>

#include "ir/tensor_type.h"

namespace fusescope {

/// The extents of `to` as a Reshape of `from` takes them: numbers, 0 where an extent stays, and -1 for one that is
/// left. Nothing where that cannot say it.
std::optional<Dims> reshapeEntries(const Shape& from, const Shape& to);

}  // namespace fusescope
