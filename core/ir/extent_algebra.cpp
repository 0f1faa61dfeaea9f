// Functions of expressions in normal form: division, minimum and similar functions, and simplification by facts.
#include <algorithm>
#include <numeric>

#include "ir/extent_expression.h"
#include "ir/extent_numbers.h"
#include "ir/extent_printer.h"

namespace fusescope {
namespace {

constexpr std::size_t kMostSteps = 48;  // steps of a division; an expression has no more terms
constexpr std::size_t kMostText = 400;  // characters of an atom

using Function = ExtentExpression::Function;

}  // namespace

ExtentExpression ExtentExpression::ofCall(Function function, std::vector<ExtentExpression> arguments) {
  Atom atom{.text = {}, .call = std::make_shared<const Call>(Call{function, std::move(arguments)})};
  atom.text = ExtentPrinter::callText(*atom.call);
  if (atom.text.size() > kMostText) return invalid();
  ExtentExpression expression;
  expression.add({std::move(atom)}, {1, 1});
  return expression;
}

/// Returns a number of which the monomial is a multiple, according to what is known of its symbols; nothing if it
/// overflows.
std::optional<std::int64_t> ExtentExpression::multipleOf(const Monomial& monomial, const ExtentFacts* facts) {
  std::int64_t all = 1;
  if (facts == nullptr) return all;
  for (const Atom& atom : monomial) {
    const auto known = facts->multiples.find(atom.text);
    if (known != facts->multiples.end() && __builtin_mul_overflow(all, known->second, &all)) return std::nullopt;
  }
  return all;
}

bool ExtentExpression::isMultiple(const Monomial& monomial, Rational coefficient, std::int64_t n,
                                  const ExtentFacts* facts) {
  const auto multiple = multipleOf(monomial, facts);
  if (!multiple) return false;
  const __int128 whole = static_cast<__int128>(coefficient.numerator) * *multiple;
  return whole % (static_cast<__int128>(coefficient.denominator) * n) == 0;
}

/// Removes the terms that are multiples of `n` and, of other terms with whole coefficients, the largest part that is a
/// multiple. Returns the removed part divided by `n`.
ExtentExpression ExtentExpression::takeMultiples(std::int64_t n, const ExtentFacts* facts) {
  ExtentExpression taken, rest;
  for (const auto& [monomial, coefficient] : m_terms) {
    if (isMultiple(monomial, coefficient, n, facts)) {
      const auto part = reduced(coefficient.numerator, static_cast<__int128>(coefficient.denominator) * n);
      if (!part) return invalid();
      taken.add(monomial, *part);
      continue;
    }
    const std::int64_t times = coefficient.denominator == 1 ? floorDivision(coefficient.numerator, n) : 0;
    taken.add(monomial, {times, 1});
    rest.add(monomial, {coefficient.numerator - times * n, coefficient.denominator});
  }
  *this = std::move(rest);
  return taken;
}

std::int64_t ExtentExpression::commonDenominator() const {
  std::int64_t all = 1;
  for (const auto& [monomial, coefficient] : m_terms) all = std::lcm(all, coefficient.denominator);
  return all;
}

/// Divides `n` and all terms other than the number by their common factor; the number is rounded down.
void ExtentExpression::shareFactor(std::int64_t& n) {
  std::int64_t shared = n;
  for (const auto& [monomial, coefficient] : m_terms)
    if (!monomial.empty()) shared = std::gcd(shared, coefficient.numerator);
  if (shared == 1) return;
  ExtentExpression result;
  for (const auto& [monomial, coefficient] : m_terms)
    result.add(monomial, {floorDivision(coefficient.numerator, shared), 1});
  *this = std::move(result);
  n /= shared;
}

/// Replaces floor((floor(x/m) + rest)/n) by floor((x + m·rest)/(m·n)). Returns whether there was such a term.
bool ExtentExpression::flatten(std::int64_t& n) {
  for (const auto& [monomial, coefficient] : m_terms) {
    if (monomial.size() != 1 || monomial[0].call == nullptr || coefficient != Rational{1, 1}) continue;
    const std::shared_ptr<const Call> call = monomial[0].call;
    if (call->function != Function::FloorDivision) continue;
    const auto m = call->arguments[1].number();
    std::int64_t both = 0;
    if (!m || *m <= 0 || __builtin_mul_overflow(*m, n, &both)) continue;
    const ExtentExpression rest = *this - ofCall(call->function, call->arguments);
    *this = call->arguments[0] + rest.scaled({*m, 1});
    n = both;
    return true;
  }
  return false;
}

ExtentExpression ExtentExpression::dividedByNumber(ExtentExpression a, std::int64_t n, const ExtentFacts* facts) {
  ExtentExpression whole = a.takeMultiples(n, facts);
  if (!a.m_valid || !whole.m_valid) return invalid();
  const std::int64_t denominator = a.commonDenominator();
  if (denominator != 1 && __builtin_mul_overflow(n, denominator, &n)) return invalid();
  a = a.scaled({denominator, 1});
  a.shareFactor(n);
  if (n == 1 || a.number() == 0) return whole + (n == 1 ? a : 0);
  if (const auto left = a.number()) return whole + floorDivision(*left, n);
  if (a.flatten(n)) return whole + dividedByNumber(std::move(a), n, facts);
  // Scaling and sharing may leave coefficients that are multiples of `n` again.
  const ExtentExpression more = a.takeMultiples(n, facts);
  if (more != 0) return whole + more + dividedByNumber(std::move(a), n, facts);
  return whole + ofCall(Function::FloorDivision, {a, n});
}

ExtentExpression floorDivided(const ExtentExpression& a, const ExtentExpression& b, const ExtentFacts* facts) {
  if (!a.valid() || !b.valid()) return ExtentExpression::invalid();
  if (const auto n = b.number()) {
    if (*n == 0) return ExtentExpression::invalid();
    if (*n < 0) return ExtentExpression::dividedByNumber(a.scaled({-1, 1}), -*n, facts);
    return ExtentExpression::dividedByNumber(a, *n, facts);
  }
  if (a.number() == 0) return 0;
  if (const auto exact = dividedExactly(a, b)) return *exact;
  return ExtentExpression::ofCall(Function::FloorDivision, {a, b});
}

ExtentExpression ceilDivided(const ExtentExpression& a, const ExtentExpression& b) {
  return floorDivided(a + b - 1, b);
}

std::optional<ExtentExpression> dividedExactly(const ExtentExpression& a, const ExtentExpression& b) {
  if (!a.m_valid || !b.m_valid || b.m_terms.empty()) return std::nullopt;
  const auto& [leading, factor] = *b.m_terms.begin();
  ExtentExpression quotient, rest = a;
  for (std::size_t step = 0; !rest.m_terms.empty(); ++step) {
    const auto& [monomial, coefficient] = *rest.m_terms.begin();
    if (step > kMostSteps || !std::ranges::includes(monomial, leading)) return std::nullopt;
    ExtentExpression::Monomial part;
    std::ranges::set_difference(monomial, leading, std::back_inserter(part));
    const auto times = ExtentExpression::reduced(static_cast<__int128>(coefficient.numerator) * factor.denominator,
                                                 static_cast<__int128>(coefficient.denominator) * factor.numerator);
    if (!times || (times->denominator != 1 && coefficient.denominator == 1)) return std::nullopt;
    ExtentExpression term;
    term.add(part, *times);
    quotient = quotient + term;
    rest = rest - term * b;
    if (!rest.m_valid || !quotient.m_valid) return std::nullopt;
  }
  return quotient;
}

ExtentExpression applied(Function function, const std::vector<ExtentExpression>& arguments) {
  // Arguments with the same function are merged; each argument occurs once, in the order of their texts.
  std::map<std::string, ExtentExpression> parts;
  const auto take = [&](const ExtentExpression& part) { parts.emplace(part.text(), part); };
  for (const ExtentExpression& argument : arguments) {
    if (!argument.valid()) return ExtentExpression::invalid();
    const auto* atom = argument.m_terms.size() == 1 && argument.m_terms.begin()->first.size() == 1 &&
                               argument.m_terms.begin()->second == ExtentExpression::Rational{1, 1}
                           ? &argument.m_terms.begin()->first[0]
                           : nullptr;
    if (atom != nullptr && atom->call != nullptr && atom->call->function == function)
      std::ranges::for_each(atom->call->arguments, take);
    else
      take(argument);
  }
  if (function == Function::Broadcast && parts.size() > 1) parts.erase("1");
  std::optional<std::int64_t> number;  // all numbers in a Minimum or Maximum are merged
  std::vector<ExtentExpression> left;
  for (const auto& [text, part] : parts) {
    const auto known = part.number();
    if (!known) left.push_back(part);
    if (known && function == Function::Minimum) number = std::min(number.value_or(*known), *known);
    if (known && function == Function::Maximum) number = std::max(number.value_or(*known), *known);
    // The result of Broadcast and Same is the known extent; any other value would not fit.
    if (known && (function == Function::Broadcast || function == Function::Same)) return *known;
  }
  if (function == Function::Minimum || function == Function::Maximum) {
    // No extent is negative.
    if (number && *number <= 0 && function == Function::Maximum &&
        std::ranges::all_of(left, [](const auto& part) { return part.onlySymbol().has_value(); }))
      number.reset();
    if (number) left.push_back(*number);
  }
  if (left.size() == 1) return left[0];
  return ExtentExpression::ofCall(function, std::move(left));
}

namespace {

/// Removes the arguments of a minimum or maximum that cannot be its value under `facts`.
void dropBeaten(Function function, std::vector<ExtentExpression>& arguments, const ExtentFacts& facts) {
  if (function != Function::Minimum && function != Function::Maximum) return;
  const auto beats = [&](const ExtentExpression& a, const ExtentExpression& b) {
    return function == Function::Minimum ? isAtMost(a, b, facts) : isAtMost(b, a, facts);
  };
  for (std::size_t i = 0; i < arguments.size();) {
    bool beaten = false;
    for (std::size_t j = 0; j < arguments.size() && !beaten; ++j) beaten = i != j && beats(arguments[j], arguments[i]);
    if (beaten)
      arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(i));
    else
      ++i;
  }
}

}  // namespace

ExtentExpression ExtentExpression::under(const ExtentFacts& facts) const {
  if (facts.empty() || !m_valid) return *this;
  ExtentExpression result;
  for (const auto& [monomial, coefficient] : m_terms) {
    ExtentExpression term = 1;
    for (const Atom& atom : monomial) {
      if (atom.call == nullptr) {
        const auto equal = facts.equals.find(atom.text);
        term = term * (equal == facts.equals.end() ? symbol(atom.text) : equal->second);
        continue;
      }
      if (const auto equal = facts.equals.find(atom.text); equal != facts.equals.end()) {
        term = term * equal->second;
        continue;
      }
      std::vector<ExtentExpression> arguments;
      for (const ExtentExpression& argument : atom.call->arguments) arguments.push_back(argument.under(facts));
      if (std::ranges::any_of(arguments, [](const ExtentExpression& argument) { return !argument.valid(); }))
        return invalid();
      dropBeaten(atom.call->function, arguments, facts);
      term = term * (atom.call->function == Function::FloorDivision ? floorDivided(arguments[0], arguments[1], &facts)
                                                                    : applied(atom.call->function, arguments));
    }
    result = result + term.scaled(coefficient);
  }
  return result;
}

}  // namespace fusescope
