#pragma once

#include <span>

#include "ir/extent_expression.h"

namespace fusescope::ops {

// Arithmetic of extents that may be open. What is unknown, and what would be less than nothing, gives an unknown
// extent.

Dim sumOf(const Dim& a, const Dim& b);
Dim differenceOf(const Dim& a, const Dim& b);
/// `dim`·times + plus.
Dim scaledExtent(const Dim& dim, std::int64_t times, std::int64_t plus = 0);
/// (`dim` + plus)/by, rounded down; `by` is positive.
Dim dividedExtent(const Dim& dim, std::int64_t plus, std::int64_t by);
/// Of axes that are broadcast together; both are open.
Dim broadcastExtent(const Dim& a, const Dim& b);
/// Of two extents that must be equal: the known one, or what both are.
Dim sameExtent(const Dim& a, const Dim& b);
/// How many elements of an axis of extent `dim` are in [start, end), each counted from the end where it is negative.
/// `start` and `end` are of an attribute or an input of a Slice whose step is 1.
Dim cutExtent(const Dim& dim, const ExtentExpression& start, const ExtentExpression& end);

}  // namespace fusescope::ops
