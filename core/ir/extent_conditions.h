#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ir/extent_expression.h"

namespace fusescope {

/// What open extents are to one another: types that were inferred under it hold for the runs where it is so.
struct ExtentCondition {
  enum class Relation { Equal, AtMost };

  std::string left, right;  ///< "h % 32", "0"
  std::string node;         ///< whose types were inferred under it first
  Relation relation = Relation::Equal;
  bool demanded = false;  ///< not taken for granted: the node cannot work where it is not so
  std::string text() const { return left + (relation == Relation::Equal ? " == " : " <= ") + right; }
  bool operator==(const ExtentCondition&) const = default;
};

/// Returns whether the condition is true for these values of the symbols; nothing if a symbol has no value.
std::optional<bool> holds(const ExtentCondition& condition, const ExtentExpression::ValueOf& valueOf);

/// Returns the rank of a symbol. When two symbols become equal, the one with the lower rank represents both. Nothing
/// means that no assumption may be made about the symbol.
using SymbolRank = std::function<std::optional<std::size_t>(const std::string& symbol)>;

/// Adds to `facts` something that makes `a` and `b` equal: that a symbol is equal to an expression, a multiple of a
/// number, or that one expression is at most another. Returns it as a condition (without a node); nothing, and `facts`
/// as they were, where nothing simple does, or where a symbol has no rank.
std::optional<ExtentCondition> assumeEqual(const ExtentExpression& a, const ExtentExpression& b, ExtentFacts& facts,
                                           const SymbolRank& rankOf);
/// Adds `condition` to `facts`.
void assume(const ExtentCondition& condition, ExtentFacts& facts, const SymbolRank& rankOf);

}  // namespace fusescope
