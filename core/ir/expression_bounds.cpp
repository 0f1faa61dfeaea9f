// Bounds of an expression, given the bounds of its symbols.
#include <algorithm>
#include <concepts>

#include "ir/expression_bounds.h"
#include "ir/extent_expression.h"
#include "ir/extent_numbers.h"
#include "ir/extent_printer.h"

namespace fusescope {
namespace {

using Function = ExtentExpression::Function;
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
    // Extents that fit together may be any of the given ones.
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

namespace {

constexpr std::int64_t kMostExtent = std::int64_t{1} << 20;

/// A smallest value that depends on the largest values of symbols is not a bound.
template <class LeastOf>
std::optional<std::int64_t> leastOf(const ExtentExpression& expression,
                                    const LeastOf& leastOfSymbol) requires std::invocable<LeastOf, const std::string&> {
  const auto at = [&](std::int64_t most) {
    return expression.within([&](const std::string& symbol) {
      const std::int64_t least = leastOfSymbol(symbol);
      return std::optional(Range{least, std::max(least, most)});
    });
  };
  const auto narrow = at(kMostExtent), wide = at(4 * kMostExtent);
  if (!narrow || !wide || narrow->least != wide->least) return std::nullopt;
  return wide->least;
}

}  // namespace

std::optional<std::int64_t> leastOf(const ExtentExpression& expression, std::int64_t leastSymbol) {
  return leastOf(expression, [&](const std::string&) { return leastSymbol; });
}

namespace {

/// Returns the smallest possible value of `symbol`, given what it is a multiple of and what it is at least.
std::int64_t leastOfSymbol(const std::string& symbol, const ExtentFacts& facts, std::int64_t leastSymbol) {
  std::int64_t least = leastSymbol;
  const auto multiple = facts.multiples.find(symbol);
  if (leastSymbol > 0 && multiple != facts.multiples.end()) least = multiple->second;
  for (const auto& [bound, bounded] : facts.ordered)
    if (bound.number() && bounded.onlySymbol() == symbol) least = std::max(least, *bound.number());
  return least;
}

}  // namespace

bool isAtMost(const ExtentExpression& a, const ExtentExpression& b, const ExtentFacts& facts,
              std::int64_t leastSymbol) {
  const auto isNeverNegative = [&](const ExtentExpression& difference) {
    const auto least =
        leastOf(difference, [&](const std::string& symbol) { return leastOfSymbol(symbol, facts, leastSymbol); });
    return least.value_or(-1) >= 0;
  };
  const ExtentExpression difference = b - a;
  if (isNeverNegative(difference)) return true;
  return std::ranges::any_of(
      facts.ordered, [&](const auto& known) { return isNeverNegative(difference - (known.second - known.first)); });
}

std::optional<std::int64_t> leastThatReaches(const ExtentExpression& expression, std::int64_t bound) {
  const std::vector<std::string> symbols = expression.symbols();
  if (symbols.size() != 1) return std::nullopt;
  const auto at = [&](std::int64_t value) { return expression.at([&](const std::string&) { return value; }); };
  const auto reaches = [&](std::int64_t value) { return at(value).value_or(bound - 1) >= bound; };
  std::int64_t below = 0, above = 1;
  while (!reaches(above) && above < kMostExtent) below = above, above *= 2;
  while (below + 1 < above) {
    const std::int64_t middle = below + (above - below) / 2;
    (reaches(middle) ? above : below) = middle;
  }
  // Checks that this is so for all larger values and for no smaller one.
  const auto within = [&](std::int64_t least, std::int64_t most) {
    return expression.within([&](const std::string&) { return std::optional(Range{least, most}); });
  };
  const auto before = within(1, above - 1);
  const bool exact =
      leastOf(expression, above).value_or(bound - 1) >= bound && (above == 1 || (before && before->most < bound));
  return exact ? std::optional(above) : std::nullopt;
}

}  // namespace fusescope
