#include "frontends/torch/symbolic_extents.h"

#include <algorithm>
#include <charconv>
#include <vector>

namespace fusescope::torch {
namespace {

/// Reads SymPy's form: NAME(ARGUMENT, …), where an argument is such a form, a number, a text, or KEY=VALUE.
class SympyReader {
 public:
  explicit SympyReader(std::string_view text) : m_text(text) {}

  ExtentExpression whole() {
    const ExtentExpression expression = form(0);
    return m_at == m_text.size() ? expression : ExtentExpression::invalid();
  }

 private:
  static constexpr int kDeepest = 64;

  void skip(char c) {
    if (m_at < m_text.size() && m_text[m_at] == c) ++m_at;
  }
  bool next(char c) const { return m_at < m_text.size() && m_text[m_at] == c; }
  std::string_view word(std::string_view ends) {
    const std::size_t begin = m_at;
    m_at = std::min(m_text.find_first_of(ends, m_at), m_text.size());
    return m_text.substr(begin, m_at - begin);
  }

  ExtentExpression form(int depth) {
    const std::string_view name = word("(),");
    if (!next('(') || depth > kDeepest) return ExtentExpression::invalid();
    ++m_at;
    if (name == "Symbol") return symbol();
    if (name == "Integer") return integer();
    std::vector<ExtentExpression> arguments;
    while (m_at < m_text.size() && !next(')')) {
      arguments.push_back(form(depth + 1));
      if (!arguments.back().valid()) return arguments.back();
      skip(',');
      skip(' ');
    }
    if (!next(')')) return ExtentExpression::invalid();
    ++m_at;
    return applied(name, arguments);
  }

  /// Reads 's77', positive=True, integer=True).
  ExtentExpression symbol() {
    skip('\'');
    const std::string_view name = word("'");
    word(")");
    if (!next(')')) return ExtentExpression::invalid();
    ++m_at;
    return ExtentExpression::symbol(extentSymbol(name));
  }

  ExtentExpression integer() {
    const std::string_view digits = word(")");
    std::int64_t number = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (!next(')') || read.ec != std::errc() || read.ptr != digits.data() + digits.size())
      return ExtentExpression::invalid();
    ++m_at;
    return number;
  }

  static ExtentExpression applied(std::string_view name, const std::vector<ExtentExpression>& arguments) {
    if (arguments.empty()) return ExtentExpression::invalid();
    ExtentExpression result = arguments.front();
    if (name == "Add" || name == "Mul") {
      for (std::size_t i = 1; i < arguments.size(); ++i)
        result = name == "Add" ? result + arguments[i] : result * arguments[i];
      return result;
    }
    if (name == "Max" || name == "Min")
      return fusescope::applied(
          name == "Max" ? ExtentExpression::Function::Maximum : ExtentExpression::Function::Minimum, arguments);
    if (arguments.size() != 2) return ExtentExpression::invalid();
    if (name == "FloorDiv" || name == "CleanDiv") return floorDivided(arguments[0], arguments[1]);
    if (name != "Pow") return ExtentExpression::invalid();
    const auto power = arguments[1].number();
    if (!power || *power < 1 || *power > 8) return ExtentExpression::invalid();
    for (std::int64_t i = 1; i < *power; ++i) result = result * arguments[0];
    return result;
  }

  std::string_view m_text;
  std::size_t m_at = 0;
};

}  // namespace

ExtentExpression extentExpressionOf(std::string_view text) {
  constexpr std::size_t kLongest = 4096;
  if (text.size() > kLongest) return ExtentExpression::invalid();
  if (const ExtentExpression read = SympyReader(text).whole(); read.valid()) return read;
  if (text.find("Symbol(") != std::string_view::npos) return ExtentExpression::invalid();
  return ExtentExpression::parse(text).value_or(ExtentExpression::invalid());
}

Dim extentOf(const SymbolicNumber& number) {
  if (number.known) return *number.known < 0 ? Dim() : Dim(*number.known);
  if (number.expression.empty()) return {};
  const ExtentExpression expression = extentExpressionOf(number.expression);
  return expression.valid() ? expression.dim() : Dim::named(extentSymbol(number.expression));
}

}  // namespace fusescope::torch
