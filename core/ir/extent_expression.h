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

/// An integer worked out from extents that a file leaves open: a polynomial over atoms, which are symbols and functions
/// of expressions. It is always in normal form: whatever can be told to be equal has the same text, and Dim::symbol
/// holds that text, so that extents are compared by text. Symbols stand for extents: integers that are not negative.
///
/// Text: `h`, `past + seq`, `2*h`, `h/8` (rounded down), `ceil(h/8)`, `(h + 3)/8`, `4*(h/8)`, `max(h, w)`.
/// `broadcast(a, b)` is the extent of two broadcast axes, `same(a, b)` that of two that must be equal.
/// Arithmetic that overflows, or grows beyond what is of use to anyone, gives an expression that is not valid().
class ExtentExpression {
 public:
  enum class Function { FloorDivision, Minimum, Maximum, Broadcast, Same };

  ExtentExpression(std::int64_t number = 0);
  static ExtentExpression symbol(std::string name);
  /// A known extent or the expression that a Dim's symbol holds; not valid where the extent is unknown.
  static ExtentExpression of(const Dim& dim);
  static ExtentExpression invalid();
  /// Reads text() and what exporters write into dim_param: inside `floor(…)` and `ceil(…)`, `/` does not round.
  /// Nothing if the text is no expression.
  static std::optional<ExtentExpression> parse(std::string_view text);

  bool valid() const { return m_valid; }
  std::optional<std::int64_t> number() const;     ///< if it is one whatever the symbols are
  std::optional<std::string> onlySymbol() const;  ///< if it is a symbol alone
  std::string text() const;                       ///< valid() must hold
  Dim dim() const;                                ///< a number below 0 and what is not valid are no extent
  std::vector<std::string> symbols() const;       ///< all that occur, each once, sorted
  bool contains(Function function) const;         ///< anywhere in it
  /// The arguments of each use of `function` anywhere in it, inner ones first.
  std::vector<std::vector<ExtentExpression>> argumentsOf(Function function) const;
  /// The product of the denominators that `symbol` is divided by, as their least common multiple.
  std::int64_t denominatorOf(const std::string& symbol) const;

  ExtentExpression operator+(const ExtentExpression& other) const;
  ExtentExpression operator-(const ExtentExpression& other) const;
  ExtentExpression operator*(const ExtentExpression& other) const;
  bool operator==(const ExtentExpression& other) const;

  /// This expression where `facts` hold.
  ExtentExpression under(const ExtentFacts& facts) const;
  /// Its value where each symbol has the value that `valueOf` gives. Nothing if one has none, by overflow, or where
  /// broadcast() or same() meet extents that do not fit.
  using ValueOf = std::function<std::optional<std::int64_t>(const std::string& symbol)>;
  std::optional<std::int64_t> at(const ValueOf& valueOf) const;
  /// Bounds of the value where each symbol is within the bounds that `rangeOf` gives. Never too narrow.
  struct Range {
    std::int64_t least = 0, most = 0;
    bool operator==(const Range&) const = default;
  };
  using RangeOf = std::function<std::optional<Range>(const std::string& symbol)>;
  std::optional<Range> within(const RangeOf& rangeOf) const;

  /// Of two extents, rounded down. A divisor that may be 0 is taken not to be.
  friend ExtentExpression floorDivided(const ExtentExpression& a, const ExtentExpression& b, const ExtentFacts* facts);
  /// a/b if that is a polynomial for all values of the symbols.
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
  using Monomial = std::vector<Atom>;  ///< sorted; empty: 1
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

  Terms m_terms;  ///< no coefficient is 0; they are whole unless facts make the term an integer all the same
  bool m_valid = true;
};

ExtentExpression floorDivided(const ExtentExpression& a, const ExtentExpression& b, const ExtentFacts* facts = nullptr);
ExtentExpression ceilDivided(const ExtentExpression& a, const ExtentExpression& b);
std::optional<ExtentExpression> dividedExactly(const ExtentExpression& a, const ExtentExpression& b);
/// Minimum, Maximum, Broadcast or Same of at least one argument.
ExtentExpression applied(ExtentExpression::Function function, const std::vector<ExtentExpression>& arguments);

/// What is known, or taken for granted, of symbols.
struct ExtentFacts {
  std::map<std::string, std::int64_t> multiples;  ///< the symbol is a multiple of this
  /// The symbol, or the quotient, of this text is equal to this, which holds no symbol of this map.
  std::map<std::string, ExtentExpression> equals;
  std::vector<std::pair<ExtentExpression, ExtentExpression>> ordered;  ///< the first is at most the second
  bool empty() const { return multiples.empty() && equals.empty() && ordered.empty(); }
};

/// The least that an expression can be where no symbol is less than `leastSymbol`; nothing if there is no such bound.
std::optional<std::int64_t> leastOf(const ExtentExpression& expression, std::int64_t leastSymbol = 1);
/// Whether `a` is at most `b` for all extents, none less than `leastSymbol`, of which `facts` are true.
bool isAtMost(const ExtentExpression& a, const ExtentExpression& b, const ExtentFacts& facts,
              std::int64_t leastSymbol = 0);

/// A name that can stand for an extent as it is: no number, and nothing in it that an expression is made of. Fast.
bool isExtentSymbol(std::string_view text);
/// `name` as a symbol: in quotes if it is none as it is.
std::string extentSymbol(std::string_view name);
/// The text of an extent that a file gives, in normal form; what is no expression becomes a symbol, and what exporters
/// write where they know nothing (`?`, `None`) is empty.
std::string normalExtentText(std::string_view text);

}  // namespace fusescope
