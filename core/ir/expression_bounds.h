#pragma once

#include "ir/extent_expression.h"

namespace fusescope {

/// For an expression of one symbol, returns the number N such that the expression is at least `bound` for every value
/// of the symbol from N on, and for no smaller value. Returns nothing if there is no such number.
std::optional<std::int64_t> leastThatReaches(const ExtentExpression& expression, std::int64_t bound);

}  // namespace fusescope
