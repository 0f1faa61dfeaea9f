#include "interchange/recipes/python_values.h"

#include <charconv>
#include <optional>

#include "base/utf8.h"

namespace fusescope {
namespace {

bool isNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

class PythonReader {
 public:
  explicit PythonReader(std::string_view text) : m_text(text) {}

  std::map<std::string, PythonValue, std::less<>> run() {
    while (m_at < m_text.size()) {
      if (isNameCharacter(here()) && !isPrefixOfText()) {
        readAssignment();
      } else if (here() == '#') {
        skipComment();
      } else if (here() == '"' || here() == '\'' || isPrefixOfText()) {
        if (!readText()) ++m_at;
      } else {
        ++m_at;
      }
    }
    return std::move(m_values);
  }

 private:
  char here() const { return m_at < m_text.size() ? m_text[m_at] : '\0'; }
  bool startsWith(std::string_view what) const { return m_text.substr(m_at).starts_with(what); }

  /// Returns whether a text with a prefix stands here: r"…", b'…', u"…", f"…".
  bool isPrefixOfText() const {
    std::size_t end = m_at;
    while (end < m_text.size() && end < m_at + 2 &&
           std::string_view("rRbBuUfF").find(m_text[end]) != std::string_view::npos)
      ++end;
    return end > m_at && end < m_text.size() && (m_text[end] == '"' || m_text[end] == '\'');
  }

  void skipComment() {
    while (m_at < m_text.size() && here() != '\n') ++m_at;
  }

  void skipSpace() {
    for (; m_at < m_text.size(); ++m_at) {
      if (here() == '#') skipComment();
      const bool joins = here() == '\\' && m_at + 1 < m_text.size() && m_text[m_at + 1] == '\n';
      if (!joins && std::string_view(" \t\r\n").find(here()) == std::string_view::npos) return;
    }
  }

  std::string readName() {
    const std::size_t start = m_at;
    while (m_at < m_text.size() && isNameCharacter(here())) ++m_at;
    return std::string(m_text.substr(start, m_at - start));
  }

  /// `NAME = VALUE`, and not `NAME == VALUE`.
  void readAssignment() {
    const std::string name = readName();
    const std::size_t behindName = m_at;
    while (here() == ' ' || here() == '\t') ++m_at;
    const bool assigns = here() == '=' && !startsWith("==");
    if (!assigns) {
      m_at = behindName;
      return;
    }
    ++m_at;
    const std::size_t behindSign = m_at;
    skipSpace();
    auto value = readValue(0);
    if (value && (value->kind != PythonValue::Kind::Word || endsHere())) {
      const auto known = value->kind == PythonValue::Kind::Word ? m_values.find(value->text) : m_values.end();
      m_values.insert_or_assign(name, known == m_values.end() ? std::move(*value) : PythonValue(known->second));
    } else {
      m_at = behindSign;  // an expression, which may hold further assignments
    }
  }

  /// Returns whether what was read is all of the value: `a[b]`, `a + b` and `a.b(c)` are expressions.
  bool endsHere() const {
    std::size_t at = m_at;
    while (at < m_text.size() && (m_text[at] == ' ' || m_text[at] == '\t')) ++at;
    return at == m_text.size() || std::string_view("\r\n,)#;]}").find(m_text[at]) != std::string_view::npos;
  }

  std::optional<PythonValue> readValue(int depth) {
    constexpr int kDeepest = 16;
    if (depth > kDeepest) return std::nullopt;
    if (here() == '"' || here() == '\'' || isPrefixOfText()) return readTexts();
    if (here() == '[' || here() == '(') return readList(here() == '[' ? ']' : ')', depth);
    if (here() == '{') return readBraces(depth);
    if (here() == '-' || here() == '+' || here() == '.' || isNameCharacter(here())) return readWord(depth);
    return std::nullopt;
  }

  /// Texts that stand beside each other are one.
  std::optional<PythonValue> readTexts() {
    PythonValue value{.kind = PythonValue::Kind::Text};
    for (;;) {
      const auto part = readText();
      if (!part) return std::nullopt;
      value.text += *part;
      const std::size_t behind = m_at;
      skipSpace();
      if (here() == '"' || here() == '\'' || isPrefixOfText()) continue;
      m_at = behind;
      return value;
    }
  }

  std::optional<std::string> readText() {
    bool raw = false;
    while (here() != '"' && here() != '\'') {
      raw = raw || here() == 'r' || here() == 'R';
      if (++m_at >= m_text.size()) return std::nullopt;
    }
    const std::string one(1, here()), three(3, here());
    const std::string& mark = startsWith(three) ? three : one;
    m_at += mark.size();
    std::string text;
    while (m_at < m_text.size() && !startsWith(mark)) {
      if (here() == '\n' && mark.size() == 1) return std::nullopt;
      if (here() == '\\' && m_at + 1 < m_text.size()) {
        if (!raw) {
          readEscape(text);
          continue;
        }
        text += m_text[m_at++];
      }
      text += m_text[m_at++];
    }
    if (!startsWith(mark)) return std::nullopt;
    m_at += mark.size();
    return text;
  }

  void readEscape(std::string& text) {
    const char c = m_text[m_at + 1];
    m_at += 2;
    constexpr std::string_view kNames = "abfnrtv\\'\"", kMeanings = "\a\b\f\n\r\t\v\\'\"";
    if (const auto known = kNames.find(c); known != std::string_view::npos) {
      text += kMeanings[known];
    } else if (c == 'x' || c == 'u' || c == 'U') {
      readCode(text, c == 'x' ? 2 : c == 'u' ? 4 : 8);
    } else if (c != '\n') {
      text += '\\';
      text += c;
    }
  }

  void readCode(std::string& text, std::size_t digits) {
    std::uint32_t code = 0;
    const std::string_view number = m_text.substr(m_at, digits);
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), code, 16);
    if (error != std::errc() || end != number.data() + digits || !isUnicodeCharacter(code)) return;
    appendUtf8(text, code);
    m_at += digits;
  }

  std::optional<PythonValue> readList(char end, int depth) {
    PythonValue value{.kind = PythonValue::Kind::List};
    ++m_at;
    for (;;) {
      skipSpace();
      if (here() == end) {
        ++m_at;
        return value;
      }
      auto item = readValue(depth + 1);
      if (!item) return std::nullopt;
      value.items.push_back(std::move(*item));
      skipSpace();
      if (here() == ',')
        ++m_at;
      else if (here() != end)
        return std::nullopt;
    }
  }

  /// A table, whose keys are texts, or a set.
  std::optional<PythonValue> readBraces(int depth) {
    PythonValue value{.kind = PythonValue::Kind::Table};
    ++m_at;
    for (;;) {
      skipSpace();
      if (here() == '}') {
        ++m_at;
        return value;
      }
      auto item = readValue(depth + 1);
      if (!item) return std::nullopt;
      skipSpace();
      if (here() == ':') {
        ++m_at;
        skipSpace();
        auto held = readValue(depth + 1);
        if (!held || item->kind != PythonValue::Kind::Text) return std::nullopt;
        value.entries.emplace_back(std::move(item->text), std::move(*held));
        skipSpace();
      } else {
        value.kind = PythonValue::Kind::List;
        value.items.push_back(std::move(*item));
      }
      if (here() == ',')
        ++m_at;
      else if (here() != '}')
        return std::nullopt;
    }
  }

  /// A name with dots, a number; of `set([...])` and its like what stands in the parentheses.
  std::optional<PythonValue> readWord(int depth) {
    const std::size_t start = m_at;
    while (m_at < m_text.size() && (isNameCharacter(here()) || here() == '.' || here() == '-' || here() == '+')) ++m_at;
    PythonValue value{.kind = PythonValue::Kind::Word, .text = std::string(m_text.substr(start, m_at - start))};
    if (here() != '(') return value;
    if (value.text != "set" && value.text != "list" && value.text != "tuple" && value.text != "dict")
      return std::nullopt;
    ++m_at;
    skipSpace();
    auto held = readValue(depth + 1);
    skipSpace();
    if (!held || here() != ')') return std::nullopt;
    ++m_at;
    return held;
  }

  std::string_view m_text;
  std::size_t m_at = 0;
  std::map<std::string, PythonValue, std::less<>> m_values;
};

}  // namespace

std::vector<std::string> PythonValue::texts() const {
  std::vector<std::string> texts;
  for (const PythonValue& item : items)
    if (item.kind == Kind::Text) texts.push_back(item.text);
  return texts;
}

std::map<std::string, PythonValue, std::less<>> pythonValues(std::string_view program) {
  return PythonReader(program).run();
}

}  // namespace fusescope
