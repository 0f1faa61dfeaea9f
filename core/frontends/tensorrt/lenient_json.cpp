#include "frontends/tensorrt/lenient_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/json.h"
#include "base/utf8.h"

namespace fusescope {
namespace {

constexpr int kDeepest = 64;
/// Fields are kept in their order and searched linearly.
constexpr std::size_t kMostFields = 20'000;

class LenientParser {
 public:
  explicit LenientParser(std::string_view text) : m_text(text) {}

  Result<Json> run() {
    Json json = TRY(value(0));
    skipSpace();
    if (m_at < m_text.size()) return expected("the end of the file");
    return json;
  }

 private:
  void skipSpace() {
    while (m_at < m_text.size() && isSpace(m_text[m_at])) ++m_at;
  }
  static bool isSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
  bool skip(char c) {
    skipSpace();
    if (m_at >= m_text.size() || m_text[m_at] != c) return false;
    ++m_at;
    return true;
  }

  Diagnostic expected(std::string_view what) const {
    const std::string_view before = m_text.substr(0, std::min(m_at, m_text.size()));
    const auto line = std::ranges::count(before, '\n') + 1;
    const std::size_t start = before.rfind('\n');
    const std::size_t column = before.size() - (start == std::string_view::npos ? 0 : start + 1) + 1;
    return {.message = fmt::format("line {}, column {}: {} is expected{}", line, column, what,
                                   m_at >= m_text.size() ? ", and the file ends there" : "")};
  }

  Result<Json> value(int depth) {
    if (depth > kDeepest) return expected(fmt::format("no nesting deeper than {} levels", kDeepest));
    skipSpace();
    if (m_at >= m_text.size()) return expected("a value");
    switch (m_text[m_at]) {
      case '{':
        return object(depth);
      case '[':
        return list(depth);
      case '"':
        return Json(TRY(quoted()));
      default:
        return word();
    }
  }

  Result<Json> object(int depth) {
    Json json = Json::object();
    ++m_at;
    if (skip('}')) return json;
    do {
      skipSpace();
      if (m_at >= m_text.size() || m_text[m_at] != '"') return expected("the name of a field in quotes");
      std::string key = TRY(quoted());
      if (!skip(':')) return expected("a colon");
      if (json.size() >= kMostFields) return expected(fmt::format("no object of more than {} fields", kMostFields));
      json[std::move(key)] = TRY(value(depth + 1));
    } while (skip(','));
    if (!skip('}')) return expected("a comma or }");
    return json;
  }

  Result<Json> list(int depth) {
    Json json = Json::array();
    ++m_at;
    if (skip(']')) return json;
    do {
      json.push_back(TRY(value(depth + 1)));
    } while (skip(','));
    if (!skip(']')) return expected("a comma or ]");
    return json;
  }

  /// Returns whether a quote at `at` ends a text.
  bool endsText(std::size_t at) const {
    ++at;
    while (at < m_text.size() && isSpace(m_text[at])) ++at;
    return at >= m_text.size() || std::string_view(",:]}").find(m_text[at]) != std::string_view::npos;
  }

  Result<std::string> quoted() {
    std::string text;
    for (++m_at; m_at < m_text.size(); ++m_at) {
      const char c = m_text[m_at];
      if (c == '"' && endsText(m_at)) {
        ++m_at;
        return text;
      }
      if (c == '\\' && m_at + 1 < m_text.size())
        takeEscape(text);
      else
        text += c;
    }
    return expected("the quote that ends a text");
  }

  /// What is not an escape of JSON is kept as it is.
  void takeEscape(std::string& text) {
    constexpr std::string_view kNames = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
    const char c = m_text[m_at + 1];
    if (const std::size_t known = kNames.find(c); known != std::string_view::npos) {
      text += kMeant[known];
      ++m_at;
      return;
    }
    std::uint32_t code = 0;
    const std::string_view digits = m_text.substr(std::min(m_at + 2, m_text.size()), 4);
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (c == 'u' && digits.size() == 4 && read.ec == std::errc() && read.ptr == digits.data() + digits.size() &&
        isUnicodeCharacter(code)) {
      appendUtf8(text, code);
      m_at += 5;
      return;
    }
    text += '\\';
  }

  Result<Json> word() {
    std::size_t end = m_at;
    while (end < m_text.size() && !isSpace(m_text[end]) &&
           std::string_view(",:]}[{\"").find(m_text[end]) == std::string_view::npos)
      ++end;
    const std::string_view text = m_text.substr(m_at, end - m_at);
    std::optional<Json> json = meant(text);
    if (!json) return expected("a value");
    m_at = end;
    return *std::move(json);
  }

  static std::optional<Json> meant(std::string_view text) {
    if (text == "true" || text == "false") return Json(text == "true");
    if (text == "null") return Json(nullptr);
    const bool isNegative = text.starts_with('-');
    const std::string_view size = text.substr(isNegative ? 1 : 0);
    if (size == "nan" || size == "NaN" || size == "nan(ind)") return Json(std::numeric_limits<double>::quiet_NaN());
    if (size == "inf" || size == "Infinity" || size == "infinity") return Json(isNegative ? -HUGE_VAL : HUGE_VAL);
    const char* const first = text.data();
    const char* const last = first + text.size();
    const auto isWhole = [&](const std::from_chars_result& read) { return read.ec == std::errc() && read.ptr == last; };
    if (std::int64_t whole = 0; isWhole(std::from_chars(first, last, whole))) return Json(whole);
    if (std::uint64_t whole = 0; isWhole(std::from_chars(first, last, whole))) return Json(whole);
    double number = 0;
    const auto read = std::from_chars(first, last, number);
    if (read.ptr != last || text.empty()) return std::nullopt;
    if (read.ec == std::errc::result_out_of_range) return Json(isNegative ? -HUGE_VAL : HUGE_VAL);
    return read.ec == std::errc() ? std::optional(Json(number)) : std::nullopt;
  }

  std::string_view m_text;
  std::size_t m_at = 0;
};

}  // namespace

Result<Json> parseLenientJson(std::string_view text) {
  return LenientParser(text).run();
}

}  // namespace fusescope
