#include "ir/extent_expression.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "ir/extent_printer.h"

namespace fusescope {
namespace {

constexpr std::size_t kMostTerms = 48;  // of one expression; more says nothing to anyone and costs time
constexpr std::size_t kMostText = 400;  // characters of an atom

using Function = ExtentExpression::Function;

std::int64_t floorDivision(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

std::optional<std::int64_t> narrowed(__int128 wide) {
  if (wide > std::numeric_limits<std::int64_t>::max() || wide < std::numeric_limits<std::int64_t>::min())
    return std::nullopt;
  return static_cast<std::int64_t>(wide);
}

__int128 greatestCommonDivisor(__int128 a, __int128 b) {
  while (b != 0) {
    const __int128 rest = a % b;
    a = b;
    b = rest;
  }
  return a < 0 ? -a : a;
}

/// The extent of axes that were broadcast together; nothing if two differ and neither is 1.
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

ExtentExpression ExtentExpression::ofCall(Function function, std::vector<ExtentExpression> arguments) {
  Atom atom{.text = {}, .call = std::make_shared<const Call>(Call{function, std::move(arguments)})};
  atom.text = ExtentPrinter::callText(*atom.call);
  if (atom.text.size() > kMostText) return invalid();
  ExtentExpression expression;
  expression.add({std::move(atom)}, {1, 1});
  return expression;
}

/// A number that the monomial is a multiple of by what is known of its symbols; nothing by overflow.
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

/// Takes the terms out that are multiples of `n`, and of the others with whole coefficients as much as is a multiple.
/// Returns what was taken out, divided by `n`.
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

/// Divides what all terms but the number share with `n` out of both; the number is rounded down.
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

/// floor((floor(x/m) + rest)/n) is floor((x + m·rest)/(m·n)). Says whether there was such a term.
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
  // Scaling and sharing leave coefficients that n goes into again.
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
    if (step > kMostTerms || !std::ranges::includes(monomial, leading)) return std::nullopt;
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
  // Arguments of the same function are its own; each stands once, in the order of their texts.
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
  std::optional<std::int64_t> number;  // of Minimum and Maximum, all numbers are one
  std::vector<ExtentExpression> left;
  for (const auto& [text, part] : parts) {
    const auto known = part.number();
    if (!known) left.push_back(part);
    if (known && function == Function::Minimum) number = std::min(number.value_or(*known), *known);
    if (known && function == Function::Maximum) number = std::max(number.value_or(*known), *known);
    // Broadcast and same extents are what the known one is: anything else does not fit.
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
      std::vector<ExtentExpression> arguments;
      for (const ExtentExpression& argument : atom.call->arguments) arguments.push_back(argument.under(facts));
      term = term * (atom.call->function == Function::FloorDivision ? floorDivided(arguments[0], arguments[1], &facts)
                                                                    : applied(atom.call->function, arguments));
    }
    result = result + term.scaled(coefficient);
  }
  return result;
}

std::optional<std::int64_t> ExtentExpression::at(const ValueOf& valueOf) const {
  if (!m_valid) return std::nullopt;
  ExtentExpression sum;
  for (const auto& [monomial, coefficient] : m_terms) {
    ExtentExpression term = 1;
    for (const Atom& atom : monomial) {
      std::optional<std::int64_t> value;
      if (atom.call == nullptr) {
        value = valueOf(atom.text);
      } else {
        std::vector<std::int64_t> arguments;
        for (const ExtentExpression& argument : atom.call->arguments) {
          const auto part = argument.at(valueOf);
          if (!part) return std::nullopt;
          arguments.push_back(*part);
        }
        value = valueOfCall(atom.call->function, arguments);
      }
      if (!value) return std::nullopt;
      term = term * *value;
    }
    sum = sum + term.scaled(coefficient);
  }
  const bool whole = sum.m_terms.empty() || sum.m_terms.begin()->second.denominator == 1;
  return whole ? sum.number() : std::nullopt;
}

namespace {

using Range = ExtentExpression::Range;

std::optional<Range> spanned(std::initializer_list<__int128> corners) {
  const auto least = narrowed(std::min(corners)), most = narrowed(std::max(corners));
  return least && most ? std::optional(Range{*least, *most}) : std::nullopt;
}

std::optional<Range> productOf(Range a, Range b) {
  const auto times = [](std::int64_t x, std::int64_t y) { return static_cast<__int128>(x) * y; };
  return spanned({times(a.least, b.least), times(a.least, b.most), times(a.most, b.least), times(a.most, b.most)});
}

std::optional<Range> rangeOfCall(Function function, const std::vector<Range>& parts) {
  const Range first = parts[0];
  if (function == Function::FloorDivision) {
    const Range by = parts[1];
    if (by.least <= 0) return std::nullopt;
    return spanned({floorDivision(first.least, by.least), floorDivision(first.least, by.most),
                    floorDivision(first.most, by.least), floorDivision(first.most, by.most)});
  }
  Range all = first;
  for (const Range& part : parts) {
    const bool least = function == Function::Minimum;
    const bool fits = function == Function::Same || function == Function::Broadcast;
    // Extents that fit together may be any of those that are given.
    all.least = least || fits ? std::min(all.least, part.least) : std::max(all.least, part.least);
    all.most = least ? std::min(all.most, part.most) : std::max(all.most, part.most);
  }
  return all;
}

}  // namespace

std::optional<Range> ExtentExpression::within(const RangeOf& rangeOf) const {
  if (!m_valid) return std::nullopt;
  Range sum;
  for (const auto& [monomial, coefficient] : m_terms) {
    std::optional<Range> term = Range{coefficient.numerator, coefficient.numerator};
    for (const Atom& atom : monomial) {
      std::vector<Range> arguments;
      if (atom.call != nullptr) {
        for (const ExtentExpression& argument : atom.call->arguments) {
          const auto part = argument.within(rangeOf);
          if (!part) return std::nullopt;
          arguments.push_back(*part);
        }
      }
      const auto own = atom.call == nullptr ? rangeOf(atom.text) : rangeOfCall(atom.call->function, arguments);
      term = own && term ? productOf(*term, *own) : std::nullopt;
    }
    if (!term) return std::nullopt;
    const std::int64_t by = coefficient.denominator;
    const auto total = spanned({static_cast<__int128>(sum.least) + floorDivision(term->least, by),
                                static_cast<__int128>(sum.most) - floorDivision(-term->most, by)});
    if (!total) return std::nullopt;
    sum = *total;
  }
  return sum;
}

}  // namespace fusescope
