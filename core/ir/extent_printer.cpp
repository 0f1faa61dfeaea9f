#include "ir/extent_printer.h"

#include <algorithm>

namespace fusescope {
namespace {

using Function = ExtentExpression::Function;

std::string_view nameOf(Function function) {
  switch (function) {
    case Function::Minimum:
      return "min";
    case Function::Maximum:
      return "max";
    case Function::Broadcast:
      return "broadcast";
    case Function::Same:
      return "same";
    case Function::FloorDivision:
      break;
  }
  return "";
}

/// Returns whether the whole of `text` is `ceil(…)`.
bool isRoundedUp(std::string_view text) {
  if (!text.starts_with("ceil(")) return false;
  int open = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    open += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (text[i] == ')' && open == 0) return i + 1 == text.size();
  }
  return false;
}

}  // namespace

/// Returns whether the expression needs no parentheses before a `/`, because it is a single term.
bool ExtentPrinter::isSingle(const ExtentExpression& expression) {
  if (expression.m_terms.size() != 1) return false;
  const auto& [monomial, coefficient] = *expression.m_terms.begin();
  return coefficient.denominator == 1 && coefficient.numerator > 0;
}

std::string ExtentPrinter::divisionText(const ExtentExpression& a, const ExtentExpression& b) {
  const auto n = b.number();
  const ExtentExpression roundedUp = a - (n ? *n - 1 : 0);
  // Inside ceil() a division does not round, so that only the last division may be inside.
  const bool up = n && *n > 1 && !roundedUp.contains(Function::FloorDivision) &&
                  (roundedUp.m_terms.empty() || !roundedUp.m_terms.rbegin()->first.empty());
  const auto divided = [&](const ExtentExpression& top) {
    const std::string text = ExtentPrinter::text(top);
    const bool symbol = b.number() || b.onlySymbol();
    return (isSingle(top) ? text : "(" + text + ")") + "/" +
           (symbol ? ExtentPrinter::text(b) : "(" + ExtentPrinter::text(b) + ")");
  };
  return up ? "ceil(" + divided(roundedUp) + ")" : divided(a);
}

std::string ExtentPrinter::callText(const ExtentExpression::Call& call) {
  if (call.function == Function::FloorDivision) return divisionText(call.arguments[0], call.arguments[1]);
  std::string text(nameOf(call.function));
  for (std::size_t i = 0; i < call.arguments.size(); ++i)
    text += (i == 0 ? "(" : ", ") + ExtentPrinter::text(call.arguments[i]);
  return text + ")";
}

/// Prints a term without its sign.
std::string ExtentPrinter::termText(const ExtentExpression::Monomial& monomial, Rational coefficient) {
  const std::int64_t times = std::abs(coefficient.numerator);
  std::string text = monomial.empty() || times != 1 ? std::to_string(times) : "";
  const bool alone = text.empty() && monomial.size() == 1 && coefficient.denominator == 1;
  for (const ExtentExpression::Atom& atom : monomial) {
    const bool division = atom.call != nullptr && atom.call->function == Function::FloorDivision;
    const bool enclosed = division && !alone && !isRoundedUp(atom.text);
    text += (text.empty() ? "" : "*") + (enclosed ? "(" + atom.text + ")" : atom.text);
  }
  return coefficient.denominator == 1 ? text : text + "/" + std::to_string(coefficient.denominator);
}

/// Prints an expression. The first term is a positive one if there is any.
std::string ExtentPrinter::text(const ExtentExpression& expression) {
  if (expression.m_terms.empty()) return "0";
  const auto& terms = expression.m_terms;
  const auto isPositive = [](const auto& term) { return term.second.numerator > 0; };
  const auto first = std::ranges::find_if(terms, isPositive);
  std::string text;
  if (first != terms.end()) text = termText(first->first, first->second);
  for (auto term = terms.begin(); term != terms.end(); ++term) {
    if (term == first) continue;
    const bool negative = term->second.numerator < 0;
    text += text.empty() ? (negative ? "-" : "") : negative ? " - " : " + ";
    text += termText(term->first, term->second);
  }
  return text;
}

std::string ExtentExpression::text() const {
  return ExtentPrinter::text(*this);
}

}  // namespace fusescope
