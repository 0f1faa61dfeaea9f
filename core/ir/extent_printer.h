#pragma once

#include <string>

#include "ir/extent_expression.h"

namespace fusescope {

/// Prints expressions and their parts.
class ExtentPrinter {
 public:
  static std::string text(const ExtentExpression& expression);
  static std::string callText(const ExtentExpression::Call& call);

 private:
  using Rational = ExtentExpression::Rational;
  static std::string termText(const ExtentExpression::Monomial& monomial, Rational coefficient);
  static std::string divisionText(const ExtentExpression& a, const ExtentExpression& b);
  static bool isSingle(const ExtentExpression& expression);
};

}  // namespace fusescope
