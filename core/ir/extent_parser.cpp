#include <cctype>
#include <charconv>

#include "ir/extent_expression.h"

namespace fusescope {
namespace {

constexpr std::size_t kLongestText = 1000;
constexpr int kDeepest = 40;

using Function = ExtentExpression::Function;

bool beginsName(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalpha(byte) != 0 || c == '_' || c == '#' || c == '$' || c == '@' || byte >= 0x80;
}

bool continuesName(char c) {
  return beginsName(c) || std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.' || c == ':';
}

/// Returns the length of the name that begins at `at` in `text`. A `-` inside a name is part of it; between terms it is
/// surrounded by blanks.
std::size_t nameLength(std::string_view text, std::size_t at) {
  std::size_t end = at;
  if (end >= text.size() || !beginsName(text[end])) return 0;
  while (end < text.size() &&
         (continuesName(text[end]) || (text[end] == '-' && end + 1 < text.size() && continuesName(text[end + 1]))))
    ++end;
  return end - at;
}

/// An intermediate result: an expression divided by a number. Where divisions round, the number is 1.
struct Quotient {
  ExtentExpression top;
  std::int64_t bottom = 1;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : m_text(text) {}

  std::optional<ExtentExpression> whole() {
    const auto value = sum();
    skipBlanks();
    if (!value || m_at != m_text.size() || value->bottom != 1 || !value->top.valid()) return std::nullopt;
    return value->top;
  }

 private:
  using Value = std::optional<Quotient>;

  void skipBlanks() {
    while (m_at < m_text.size() && m_text[m_at] == ' ') ++m_at;
  }

  bool accept(std::string_view token) {
    skipBlanks();
    if (!m_text.substr(m_at).starts_with(token)) return false;
    m_at += token.size();
    return true;
  }

  static Value added(const Quotient& a, const Quotient& b, bool subtract) {
    const ExtentExpression left = a.top * b.bottom, right = b.top * a.bottom;
    return simplified({subtract ? left - right : left + right, a.bottom * b.bottom});
  }

  static Value simplified(Quotient value) {
    if (value.bottom > 1'000'000'000 || !value.top.valid()) return std::nullopt;
    if (const auto exact = dividedExactly(value.top, value.bottom)) return Quotient{*exact};
    return value;
  }

  Value sum() {
    const bool negative = accept("-");
    Value left = product();
    if (left && negative) left->top = ExtentExpression(0) - left->top;
    while (left) {
      const bool plus = accept("+"), minus = !plus && accept("-");
      if (!plus && !minus) break;
      const Value right = product();
      left = right ? added(*left, *right, minus) : std::nullopt;
    }
    return left;
  }

  Value product() {
    Value left = factor();
    while (left) {
      const bool floorDivides = accept("//"), divides = !floorDivides && accept("/");
      const bool rest = !floorDivides && !divides && (accept("%") || accept("mod "));
      const bool times = !floorDivides && !divides && !rest && accept("*");
      if (!floorDivides && !divides && !rest && !times) break;
      const Value right = factor();
      if (!right) return std::nullopt;
      left = times     ? simplified({left->top * right->top, left->bottom * right->bottom})
             : divides ? divided(*left, *right)
             : rest    ? remainder(*left, *right)
                       : rounded(divided(*left, *right, true), false);
    }
    return left;
  }

  /// `exact` means without rounding, which is only possible for division by a number.
  Value divided(const Quotient& a, const Quotient& b, bool exact = false) const {
    const auto n = b.top.number();
    if (!m_exact && !exact) {
      if (a.bottom != 1 || b.bottom != 1) return std::nullopt;
      return Quotient{floorDivided(a.top, b.top)};
    }
    if (n && *n > 0) return simplified({a.top * b.bottom, a.bottom * *n});
    if (a.bottom != 1 || b.bottom != 1) return std::nullopt;
    if (const auto whole = dividedExactly(a.top, b.top)) return Quotient{*whole};
    return exact ? Value(Quotient{floorDivided(a.top, b.top)}) : std::nullopt;
  }

  static Value remainder(const Quotient& a, const Quotient& b) {
    if (a.bottom != 1 || b.bottom != 1) return std::nullopt;
    return Quotient{a.top - b.top * floorDivided(a.top, b.top)};
  }

  static Value rounded(const Value& value, bool up) {
    if (!value) return std::nullopt;
    return Quotient{up ? ceilDivided(value->top, value->bottom) : floorDivided(value->top, value->bottom)};
  }

  Value factor() {
    if (++m_depth > kDeepest) return std::nullopt;
    const Value value = unnested();
    --m_depth;
    return value;
  }

  Value unnested() {
    if (accept("(")) {
      const Value inner = sum();
      return inner && accept(")") ? inner : std::nullopt;
    }
    skipBlanks();
    if (m_at < m_text.size() && std::isdigit(static_cast<unsigned char>(m_text[m_at])) != 0) return number();
    if (accept("'")) return quoted();
    const std::size_t length = nameLength(m_text, m_at);
    if (length == 0) return std::nullopt;
    const std::string name(m_text.substr(m_at, length));
    m_at += length;
    return accept("(") ? call(name) : Value(Quotient{ExtentExpression::symbol(name)});
  }

  Value number() {
    std::int64_t number = 0;
    const char* const end = m_text.data() + m_text.size();
    const auto [after, error] = std::from_chars(m_text.data() + m_at, end, number);
    m_at = static_cast<std::size_t>(after - m_text.data());
    if (error != std::errc() || (m_at < m_text.size() && continuesName(m_text[m_at]))) return std::nullopt;
    return Quotient{number};
  }

  Value quoted() {
    const std::size_t end = m_text.find('\'', m_at);
    if (end == std::string_view::npos || end == m_at) return std::nullopt;
    std::string name(m_text.substr(m_at - 1, end - m_at + 2));
    m_at = end + 1;
    return Quotient{ExtentExpression::symbol(std::move(name))};
  }

  Value call(const std::string& name) {
    const bool floors = name == "floor" || name == "FloorDiv" || name == "CleanDiv",
               ceils = name == "ceil" || name == "ceiling";
    const bool outside = m_exact;
    m_exact = (name == "floor" || ceils);
    std::vector<Quotient> arguments;
    do {
      const Value argument = sum();
      if (!argument) return std::nullopt;
      arguments.push_back(*argument);
    } while (accept(","));
    m_exact = outside;
    if (!accept(")")) return std::nullopt;
    if ((name == "floor" || ceils) && arguments.size() == 1) return rounded(arguments[0], ceils);
    if (floors && arguments.size() == 2) return rounded(divided(arguments[0], arguments[1], true), false);
    if ((name == "Mod" || name == "mod") && arguments.size() == 2) return remainder(arguments[0], arguments[1]);
    std::vector<ExtentExpression> parts;
    for (const Quotient& argument : arguments) {
      if (argument.bottom != 1) return std::nullopt;
      parts.push_back(argument.top);
    }
    if (name == "min" || name == "Min") return Quotient{applied(Function::Minimum, parts)};
    if (name == "max" || name == "Max") return Quotient{applied(Function::Maximum, parts)};
    if (name == "broadcast") return Quotient{applied(Function::Broadcast, parts)};
    if (name == "same") return Quotient{applied(Function::Same, parts)};
    return std::nullopt;
  }

  std::string_view m_text;
  std::size_t m_at = 0;
  int m_depth = 0;
  bool m_exact = false;  ///< inside floor() and ceil(): divisions do not round
};

}  // namespace

std::optional<ExtentExpression> ExtentExpression::parse(std::string_view text) {
  if (text.empty() || text.size() > kLongestText) return std::nullopt;
  return Parser(text).whole();
}

bool isExtentSymbol(std::string_view text) {
  if (text.size() > 2 && text.front() == '\'' && text.back() == '\'')
    return text.substr(1, text.size() - 2).find('\'') == std::string_view::npos;
  return nameLength(text, 0) == text.size() && !text.empty();
}

std::string extentSymbol(std::string_view name) {
  if (isExtentSymbol(name)) return std::string(name);
  std::string quoted = "'";
  for (const char c : name) quoted += c == '\'' ? '`' : c;
  return quoted + (name.empty() ? "?'" : "'");
}

std::string normalExtentText(std::string_view text) {
  if (text.empty() || text == "?" || text == "-1" || text == "None") return {};
  if (isExtentSymbol(text)) return std::string(text);
  const auto expression = ExtentExpression::parse(text);
  return expression && !expression->number() ? expression->text() : extentSymbol(text);
}

}  // namespace fusescope
