#pragma once

#include <string_view>

#include "ir/extent_expression.h"

namespace fusescope::testing {

/// An expression that a test writes; it must be one.
inline ExtentExpression expression(std::string_view text) {
  return ExtentExpression::parse(text).value();
}

}  // namespace fusescope::testing
