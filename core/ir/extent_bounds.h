#pragma once

#include "ir/extent_expression.h"

namespace fusescope {

/// Of an expression of one symbol: the least value of the symbol from which on, and not before, it is at least `bound`.
/// Nothing where that is not so.
std::optional<std::int64_t> leastThatReaches(const ExtentExpression& expression, std::int64_t bound);

}  // namespace fusescope
