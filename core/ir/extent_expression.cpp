#include "ir/extent_expression.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "ir/extent_numbers.h"

namespace fusescope {
namespace {

constexpr std::size_t kMostTerms = 48;  // terms of one expression; larger ones are useless and take time

__int128 greatestCommonDivisor(__int128 a, __int128 b) {
  while (b != 0) {
    const __int128 rest = a % b;
    a = b;
    b = rest;
  }
  return a < 0 ? -a : a;
}

}  // namespace

std::optional<ExtentExpression::Rational> ExtentExpression::reduced(__int128 numerator, __int128 denominator) {
  const __int128 shared = greatestCommonDivisor(numerator, denominator);
  if (shared != 0) numerator /= shared, denominator /= shared;
  if (denominator < 0) numerator = -numerator, denominator = -denominator;
  const auto top = narrowed(numerator), bottom = narrowed(denominator);
  if (!top || !bottom || *bottom == 0) return std::nullopt;
  return Rational{*top, *bottom};
}

ExtentExpression::ExtentExpression(std::int64_t number) {
  add({}, {number, 1});
}

ExtentExpression ExtentExpression::symbol(std::string name) {
  ExtentExpression expression;
  expression.add({{std::move(name), nullptr}}, {1, 1});
  return expression;
}

ExtentExpression ExtentExpression::invalid() {
  ExtentExpression expression;
  expression.m_valid = false;
  return expression;
}

ExtentExpression ExtentExpression::of(const Dim& dim) {
  if (dim.known()) return dim.size;
  if (dim.symbol.empty()) return invalid();
  if (isExtentSymbol(dim.symbol)) return symbol(dim.symbol);
  return parse(dim.symbol).value_or(symbol(dim.symbol));
}

std::optional<std::int64_t> ExtentExpression::number() const {
  if (!m_valid) return std::nullopt;
  if (m_terms.empty()) return 0;
  const auto& [monomial, coefficient] = *m_terms.begin();
  return monomial.empty() ? std::optional(coefficient.numerator) : std::nullopt;
}

std::optional<std::string> ExtentExpression::onlySymbol() const {
  if (!m_valid || m_terms.size() != 1) return std::nullopt;
  const auto& [monomial, coefficient] = *m_terms.begin();
  if (monomial.size() != 1 || monomial[0].call != nullptr || coefficient != Rational{1, 1}) return std::nullopt;
  return monomial[0].text;
}

Dim ExtentExpression::dim() const {
  if (!m_valid) return Dim();
  if (const auto known = number()) return *known < 0 ? Dim() : Dim(*known);
  return Dim::named(text());
}

std::vector<std::string> ExtentExpression::symbols() const {
  std::set<std::string> all;
  for (const auto& [monomial, coefficient] : m_terms) {
    for (const Atom& atom : monomial) {
      if (atom.call == nullptr) {
        all.insert(atom.text);
        continue;
      }
      for (const ExtentExpression& argument : atom.call->arguments)
        for (const std::string& inner : argument.symbols()) all.insert(inner);
    }
  }
  return {all.begin(), all.end()};
}

bool ExtentExpression::contains(Function function) const {
  return !argumentsOf(function).empty();
}

std::vector<std::vector<ExtentExpression>> ExtentExpression::argumentsOf(Function function) const {
  std::vector<std::vector<ExtentExpression>> all;
  for (const auto& [monomial, coefficient] : m_terms) {
    for (const Atom& atom : monomial) {
      if (atom.call == nullptr) continue;
      for (const ExtentExpression& argument : atom.call->arguments)
        for (auto& inner : argument.argumentsOf(function)) all.push_back(std::move(inner));
      if (atom.call->function == function) all.push_back(atom.call->arguments);
    }
  }
  return all;
}

std::int64_t ExtentExpression::denominatorOf(const std::string& symbol) const {
  std::int64_t all = 1;
  for (const auto& [monomial, coefficient] : m_terms) {
    for (const Atom& atom : monomial) {
      if (atom.call == nullptr) {
        if (atom.text == symbol) all = std::lcm(all, coefficient.denominator);
        continue;
      }
      for (const ExtentExpression& argument : atom.call->arguments) all = std::lcm(all, argument.denominatorOf(symbol));
      const auto divisor = atom.call->function == Function::FloorDivision ? atom.call->arguments[1].number() : 1;
      const auto inside = atom.call->arguments[0].symbols();
      if (divisor && std::ranges::binary_search(inside, symbol)) all = std::lcm(all, *divisor);
    }
  }
  return all;
}

void ExtentExpression::add(const Monomial& monomial, Rational coefficient) {
  if (coefficient.numerator == 0) return;
  const auto [place, isNew] = m_terms.emplace(monomial, coefficient);
  if (isNew) return;
  Rational& own = place->second;
  const auto sum = reduced(static_cast<__int128>(own.numerator) * coefficient.denominator +
                               static_cast<__int128>(coefficient.numerator) * own.denominator,
                           static_cast<__int128>(own.denominator) * coefficient.denominator);
  m_valid = m_valid && sum.has_value();
  if (sum && sum->numerator != 0)
    own = *sum;
  else
    m_terms.erase(place);
}

ExtentExpression& ExtentExpression::limited() {
  if (m_terms.size() > kMostTerms) m_valid = false;
  if (!m_valid) m_terms.clear();
  return *this;
}

ExtentExpression ExtentExpression::operator+(const ExtentExpression& other) const {
  ExtentExpression sum = *this;
  for (const auto& [monomial, coefficient] : other.m_terms) sum.add(monomial, coefficient);
  sum.m_valid = sum.m_valid && other.m_valid;
  return sum.limited();
}

ExtentExpression ExtentExpression::operator-(const ExtentExpression& other) const {
  return *this + other.scaled({-1, 1});
}

ExtentExpression ExtentExpression::scaled(Rational factor) const {
  ExtentExpression result;
  result.m_valid = m_valid;
  for (const auto& [monomial, coefficient] : m_terms) {
    const auto scaled = reduced(static_cast<__int128>(coefficient.numerator) * factor.numerator,
                                static_cast<__int128>(coefficient.denominator) * factor.denominator);
    if (!scaled) return invalid();
    result.add(monomial, *scaled);
  }
  return result;
}

ExtentExpression ExtentExpression::operator*(const ExtentExpression& other) const {
  if (!m_valid || !other.m_valid || m_terms.size() * other.m_terms.size() > kMostTerms) return invalid();
  ExtentExpression product;
  for (const auto& [left, leftFactor] : m_terms) {
    for (const auto& [right, rightFactor] : other.m_terms) {
      Monomial both;
      std::ranges::merge(left, right, std::back_inserter(both));
      const auto factor = reduced(static_cast<__int128>(leftFactor.numerator) * rightFactor.numerator,
                                  static_cast<__int128>(leftFactor.denominator) * rightFactor.denominator);
      if (!factor) return invalid();
      product.add(both, *factor);
    }
  }
  return product.limited();
}

bool ExtentExpression::operator==(const ExtentExpression& other) const {
  return m_valid == other.m_valid && m_terms == other.m_terms;
}

}  // namespace fusescope
