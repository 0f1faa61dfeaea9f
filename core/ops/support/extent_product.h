#pragma once

#include <vector>

#include "base/result.h"
#include "ir/tensor_type.h"

namespace fusescope::ops {

/// The extent that makes `rest` of the same count as `all`, or unknown. Open extents are divided as polynomials. An
/// error if no extent can.
Result<Dim> missingExtent(const std::vector<Dim>& all, const std::vector<Dim>& rest);

}  // namespace fusescope::ops
