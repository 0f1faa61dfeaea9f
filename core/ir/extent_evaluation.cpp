// Evaluates an expression, given the values of its symbols.
#include <algorithm>

#include "ir/extent_expression.h"
#include "ir/extent_numbers.h"
#include "ir/extent_printer.h"

namespace fusescope {
namespace {

using Function = ExtentExpression::Function;

/// Returns the extent of axes that were broadcast, or nothing if two differ and neither is 1.
std::optional<std::int64_t> broadcastValue(const std::vector<std::int64_t>& values) {
  std::int64_t result = 1;
  for (const std::int64_t value : values) {
    if (value == 1) continue;
    if (result != 1 && result != value) return std::nullopt;
    result = value;
  }
  return result;
}

std::optional<std::int64_t> valueOfCall(Function function, const std::vector<std::int64_t>& values) {
  switch (function) {
    case Function::FloorDivision:
      return values[1] == 0 ? std::nullopt : std::optional(floorDivision(values[0], values[1]));
    case Function::Minimum:
      return *std::ranges::min_element(values);
    case Function::Maximum:
      return *std::ranges::max_element(values);
    case Function::Broadcast:
      return broadcastValue(values);
    case Function::Same:
      return std::ranges::count(values, values[0]) == std::ssize(values) ? std::optional(values[0]) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> ExtentExpression::at(const ValueOf& valueOf) const {
  if (!m_valid) return std::nullopt;
  const auto valueOfAtom = [&](const Atom& atom) -> std::optional<std::int64_t> {
    if (atom.call == nullptr) return valueOf(atom.text);
    std::vector<std::int64_t> arguments;
    for (const ExtentExpression& argument : atom.call->arguments) {
      const auto part = argument.at(valueOf);
      if (!part) return std::nullopt;
      arguments.push_back(*part);
    }
    return valueOfCall(atom.call->function, arguments);
  };
  Rational sum{0, 1};
  for (const auto& [monomial, coefficient] : m_terms) {
    std::optional<Rational> term = coefficient;
    for (const Atom& atom : monomial) {
      const auto value = valueOfAtom(atom);
      if (!value) return std::nullopt;
      term = reduced(static_cast<__int128>(term->numerator) * *value, term->denominator);
      if (!term) return std::nullopt;
    }
    const auto more = reduced(static_cast<__int128>(sum.numerator) * term->denominator +
                                  static_cast<__int128>(term->numerator) * sum.denominator,
                              static_cast<__int128>(sum.denominator) * term->denominator);
    if (!more) return std::nullopt;
    sum = *more;
  }
  return sum.denominator == 1 ? std::optional(sum.numerator) : std::nullopt;
}

}  // namespace fusescope
