#pragma once

#include <string>
#include <vector>

#include "ir/extent_expression.h"

namespace fusescope {

/// A function with its arguments, as an atom of an expression.
struct ExtentExpression::Call {
  Function function;
  std::vector<ExtentExpression> arguments;  ///< for FloorDivision: the dividend, then the divisor
};

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
