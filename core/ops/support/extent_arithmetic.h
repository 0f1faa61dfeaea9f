#pragma once

#include <span>

#include "ir/extent_expression.h"

namespace fusescope::ops {

// Arithmetic of extents that may be open. If an operand is unknown or the result is negative, the result is unknown.

Dim sumOf(const Dim& a, const Dim& b);
Dim differenceOf(const Dim& a, const Dim& b);
/// Returns `dim` * times + plus.
Dim scaledExtent(const Dim& dim, std::int64_t times, std::int64_t plus = 0);
/// Returns (`dim` + plus) / by, rounded down. `by` must be positive.
Dim dividedExtent(const Dim& dim, std::int64_t plus, std::int64_t by);
/// Returns the extent of two axes that are broadcast; both are open.
Dim broadcastExtent(const Dim& a, const Dim& b);
/// Returns the extent of two axes that must be equal: the known one if there is one.
Dim sameExtent(const Dim& a, const Dim& b);
/// Returns how many elements of an axis of extent `dim` are in [start, end); both are counted from the end if they are
/// negative. They are the start and end of a Slice with step 1.
Dim cutExtent(const Dim& dim, const ExtentExpression& start, const ExtentExpression& end);

}  // namespace fusescope::ops
