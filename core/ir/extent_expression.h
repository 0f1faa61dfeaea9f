#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/tensor_type.h"

namespace fusescope {

struct ExtentFacts;

/// An integer that is computed from open extents: a polynomial over atoms, which are symbols and functions of
/// expressions. It is always in normal form: expressions that can be shown to be equal have the same text. Dim::symbol
/// contains that text, so that extents are compared by text. Symbols represent extents, so that they are never
/// negative.
///
/// Its text has the forms `h`, `past + seq`, `2*h`, `h/8` (rounded down), `ceil(h/8)`, `(h + 3)/8`, `4*(h/8)` and
/// `max(h, w)`. `broadcast(a, b)` is the extent of two axes that are broadcast, and `same(a, b)` that of two axes that
/// must be equal. If arithmetic overflows, or the expression grows too large to be useful, the result is not valid().
class ExtentExpression {
 public:
  enum class Function { FloorDivision, Minimum, Maximum, Broadcast, Same };

  ExtentExpression(std::int64_t number = 0);
  static ExtentExpression symbol(std::string name);
  /// Returns the extent of `dim` as an expression: a number, or the expression in its symbol. The result is not valid
  /// if the extent is unknown.
  static ExtentExpression of(const Dim& dim);
  static ExtentExpression invalid();
  /// Reads what text() writes and what exporters write as dim_param; inside `floor(…)` and `ceil(…)`, `/` does not
  /// round. Returns nothing if the text is not an expression.
  static std::optional<ExtentExpression> parse(std::string_view text);

  bool valid() const { return m_valid; }
  std::optional<std::int64_t> number() const;     ///< the value, if it does not depend on symbols
  std::optional<std::string> onlySymbol() const;  ///< the symbol, if the expression is only a symbol
  std::string text() const;                       ///< requires valid()
  Dim dim() const;                                ///< unknown if the expression is negative or not valid()
  std::vector<std::string> symbols() const;       ///< all symbols that occur, sorted, without duplicates
  bool contains(Function function) const;         ///< whether `function` occurs anywhere in the expression
  /// Returns the arguments of each use of `function` in the expression, inner uses first.
  std::vector<std::vector<ExtentExpression>> argumentsOf(Function function) const;
  /// Returns the least common multiple of all numbers by which terms or quotients that contain `symbol` are divided.
  std::int64_t denominatorOf(const std::string& symbol) const;

  ExtentExpression operator+(const ExtentExpression& other) const;
  ExtentExpression operator-(const ExtentExpression& other) const;
  ExtentExpression operator*(const ExtentExpression& other) const;
  bool operator==(const ExtentExpression& other) const;

  /// Returns this expression, simplified by `facts`.
  ExtentExpression under(const ExtentFacts& facts) const;
  /// The value of the expression if `valueOf` gives the value of each symbol. It is nothing if a symbol has no value,
  /// if the computation overflows, or if broadcast() or same() get extents that do not fit together.
  using ValueOf = std::function<std::optional<std::int64_t>(const std::string& symbol)>;
  std::optional<std::int64_t> at(const ValueOf& valueOf) const;
  /// The bounds of the value if `rangeOf` gives the bounds of each symbol. They may be too wide, but never too narrow.
  struct Range {
    std::int64_t least = 0, most = 0;
    bool operator==(const Range&) const = default;
  };
  using RangeOf = std::function<std::optional<Range>(const std::string& symbol)>;
  std::optional<Range> within(const RangeOf& rangeOf) const;

  /// Returns a/b for two extents, rounded down. A divisor that may be 0 is assumed to be positive.
  friend ExtentExpression floorDivided(const ExtentExpression& a, const ExtentExpression& b, const ExtentFacts* facts);
  /// Returns a/b if that is a polynomial for all values of the symbols.
  friend std::optional<ExtentExpression> dividedExactly(const ExtentExpression& a, const ExtentExpression& b);
  friend ExtentExpression applied(Function function, const std::vector<ExtentExpression>& arguments);

 private:
  friend class ExtentPrinter;
  struct Rational {
    std::int64_t numerator = 0, denominator = 1;
    bool operator==(const Rational&) const = default;
  };
  struct Call;
  struct Atom {
    std::string text;
    std::shared_ptr<const Call> call;  ///< null for a symbol
    bool operator==(const Atom& other) const { return text == other.text; }
    auto operator<=>(const Atom& other) const { return text <=> other.text; }
  };
  using Monomial = std::vector<Atom>;  ///< sorted; an empty one is 1
  struct ByDegree {
    bool operator()(const Monomial& a, const Monomial& b) const {
      return a.size() != b.size() ? a.size() > b.size() : a < b;
    }
  };
  using Terms = std::map<Monomial, Rational, ByDegree>;

  static std::optional<Rational> reduced(__int128 numerator, __int128 denominator);
  static std::optional<std::int64_t> multipleOf(const Monomial& monomial, const ExtentFacts* facts);
  static bool isMultiple(const Monomial& monomial, Rational coefficient, std::int64_t n, const ExtentFacts* facts);
  static ExtentExpression ofCall(Function function, std::vector<ExtentExpression> arguments);
  static ExtentExpression dividedByNumber(ExtentExpression a, std::int64_t n, const ExtentFacts* facts);
  void add(const Monomial& monomial, Rational coefficient);
  ExtentExpression& limited();
  ExtentExpression scaled(Rational factor) const;
  ExtentExpression takeMultiples(std::int64_t n, const ExtentFacts* facts);
  bool flatten(std::int64_t& n);
  std::int64_t commonDenominator() const;
  void shareFactor(std::int64_t& n);

  Terms m_terms;  ///< no coefficient is 0; coefficients are whole, except where facts make the term an integer
  bool m_valid = true;
};

/// A function with its arguments, as an atom of an expression.
struct ExtentExpression::Call {
  Function function;
  std::vector<ExtentExpression> arguments;  ///< for FloorDivision: the dividend, then the divisor
};

ExtentExpression floorDivided(const ExtentExpression& a, const ExtentExpression& b, const ExtentFacts* facts = nullptr);
ExtentExpression ceilDivided(const ExtentExpression& a, const ExtentExpression& b);
std::optional<ExtentExpression> dividedExactly(const ExtentExpression& a, const ExtentExpression& b);
/// Applies Minimum, Maximum, Broadcast or Same to at least one argument.
ExtentExpression applied(ExtentExpression::Function function, const std::vector<ExtentExpression>& arguments);

/// What is known or assumed about symbols.
struct ExtentFacts {
  std::map<std::string, std::int64_t> multiples;  ///< each symbol is a multiple of its number
  /// The symbol or quotient whose text is the key equals the expression, which contains no key of this map.
  std::map<std::string, ExtentExpression> equals;
  std::vector<std::pair<ExtentExpression, ExtentExpression>> ordered;  ///< the first of each pair is at most the second
  bool empty() const { return multiples.empty() && equals.empty() && ordered.empty(); }
};

/// Returns the smallest possible value of an expression if every symbol is at least `leastSymbol`, or nothing if it has
/// no lower bound.
std::optional<std::int64_t> leastOf(const ExtentExpression& expression, std::int64_t leastSymbol = 1);
/// Returns whether `a` is at most `b` for all values of the symbols that are at least `leastSymbol` and satisfy
/// `facts`.
bool isAtMost(const ExtentExpression& a, const ExtentExpression& b, const ExtentFacts& facts,
              std::int64_t leastSymbol = 0);

/// Returns whether `text` can be used as a symbol as it is: it is not a number, and contains no character that
/// expressions use. This is fast.
bool isExtentSymbol(std::string_view text);
/// Returns `name` as a symbol, in quotes if isExtentSymbol() is false.
std::string extentSymbol(std::string_view name);
/// Returns the text of an extent of a file in normal form. A text that is no expression becomes a symbol; `?` and
/// `None`, which exporters write for unknown extents, become an empty text.
std::string normalExtentText(std::string_view text);

}  // namespace fusescope
