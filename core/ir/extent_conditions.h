#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ir/extent_expression.h"

namespace fusescope {

/// An equation or inequality of open extents. Types that were inferred under it are right for the runs in which it is
/// true.
struct ExtentCondition {
  enum class Relation { Equal, AtMost };

  std::string left, right;  ///< the two sides, as texts of expressions: "h % 32", "0"
  std::string node;         ///< the first node whose types were inferred under the condition
  Relation relation = Relation::Equal;
  bool demanded = false;  ///< the node cannot work if the condition is false; otherwise it was only assumed
  std::string text() const { return left + (relation == Relation::Equal ? " == " : " <= ") + right; }
  bool operator==(const ExtentCondition&) const = default;
};

/// Returns whether the condition is true for these values of the symbols; nothing if a symbol has no value.
std::optional<bool> holds(const ExtentCondition& condition, const ExtentExpression::ValueOf& valueOf);

/// Returns the rank of a symbol. When two symbols become equal, the one with the lower rank represents both. Nothing
/// means that no assumption may be made about the symbol.
using SymbolRank = std::function<std::optional<std::size_t>(const std::string& symbol)>;

/// Adds to `facts` a fact that makes `a` and `b` equal: that a symbol equals an expression, that it is a multiple of a
/// number, or that one expression is at most another. Returns the fact as a condition without a node. If no simple fact
/// makes them equal, or a symbol has no rank, it returns nothing and does not change `facts`.
std::optional<ExtentCondition> assumeEqual(const ExtentExpression& a, const ExtentExpression& b, ExtentFacts& facts,
                                           const SymbolRank& rankOf);
/// Adds `condition` to `facts`.
void assume(const ExtentCondition& condition, ExtentFacts& facts, const SymbolRank& rankOf);

}  // namespace fusescope
