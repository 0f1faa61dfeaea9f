#pragma once

#include <string>
#include <vector>

#include "ir/extent_expression.h"

namespace fusescope {

/// A function of expressions, inside one.
struct ExtentExpression::Call {
  Function function;
  std::vector<ExtentExpression> arguments;  ///< FloorDivision: what is divided, then by what
};

/// The text of an expression and of its parts.
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
