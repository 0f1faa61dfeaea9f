// Bounds of an expression where its symbols are within bounds.
#include <algorithm>

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
