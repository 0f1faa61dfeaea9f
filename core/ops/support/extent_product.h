#pragma once

#include <vector>

#include "base/result.h"
#include "ir/tensor_type.h"

namespace fusescope::ops {

/// Returns the extent that must be multiplied with `rest` to give the same number of elements as `all`, or an unknown
/// extent. Open extents are divided as polynomials. It is an error if no extent is possible.
Result<Dim> missingExtent(const std::vector<Dim>& all, const std::vector<Dim>& rest);

}  // namespace fusescope::ops
