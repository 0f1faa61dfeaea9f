#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ir/extent_expression.h"

namespace fusescope {

/// Two expressions of open extents that are taken to be equal: types that were inferred under it hold for the runs
/// where they are.
struct ExtentCondition {
  std::string left, right;  ///< "h % 32", "0"
  std::string node;         ///< whose types were inferred under it first
  std::string text() const { return left + " == " + right; }
  bool operator==(const ExtentCondition&) const = default;
};

/// Whether it holds where the symbols have these values; nothing if one has none.
std::optional<bool> holds(const ExtentCondition& condition, const ExtentExpression::ValueOf& valueOf);

/// Which of two symbols stands for both once they are equal: the one of lower rank. Nothing: nothing may be assumed of
/// it.
using SymbolRank = std::function<std::optional<std::size_t>(const std::string& symbol)>;

/// Adds to `facts` something that makes `a` and `b` equal: that a symbol is equal to an expression, or a multiple of a
/// number. Returns it as a condition (without a node); nothing, and `facts` as they were, where nothing simple does, or
/// where a symbol has no rank.
std::optional<ExtentCondition> assumeEqual(const ExtentExpression& a, const ExtentExpression& b, ExtentFacts& facts,
                                           const SymbolRank& rankOf);

}  // namespace fusescope
