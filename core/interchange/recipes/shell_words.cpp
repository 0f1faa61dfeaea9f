#include "interchange/recipes/shell_words.h"

namespace fusescope {
namespace {

class ShellReader {
 public:
  explicit ShellReader(std::string_view text) : m_text(text) {}

  std::vector<std::vector<std::string>> run() {
    for (; m_at < m_text.size(); ++m_at) step(m_text[m_at]);
    endCommand();
    return std::move(m_commands);
  }

 private:
  void step(char c) {
    switch (c) {
      case ' ':
      case '\t':
      case '\r':
        return endWord();
      case '\n':
      case ';':
      case '&':
      case '|':
        return endCommand();
      case '#':
        return m_inWord ? add(c) : skipComment();
      case '\\':
        return escape();
      case '\'':
        return readSingle();
      case '"':
        return readDouble();
      default:
        return add(c);
    }
  }

  void add(char c) {
    m_word += c;
    m_inWord = true;
  }

  void skipComment() {
    while (m_at + 1 < m_text.size() && m_text[m_at + 1] != '\n') ++m_at;
  }

  /// A backslash takes the meaning of what follows away; at a line's end it joins the lines.
  void escape() {
    if (m_text.substr(m_at + 1).starts_with("\r\n")) ++m_at;
    ++m_at;
    if (m_at < m_text.size() && m_text[m_at] != '\n') add(m_text[m_at]);
  }

  void readSingle() {
    m_inWord = true;
    for (++m_at; m_at < m_text.size() && m_text[m_at] != '\''; ++m_at) m_word += m_text[m_at];
  }

  void readDouble() {
    m_inWord = true;
    constexpr std::string_view kEscaped = "\"\\$`\n";
    for (++m_at; m_at < m_text.size() && m_text[m_at] != '"'; ++m_at) {
      const bool escapes =
          m_text[m_at] == '\\' && m_at + 1 < m_text.size() && kEscaped.find(m_text[m_at + 1]) != std::string_view::npos;
      if (escapes) ++m_at;
      if (!(escapes && m_text[m_at] == '\n')) m_word += m_text[m_at];
    }
  }

  void endWord() {
    if (m_inWord) m_words.push_back(std::move(m_word));
    m_word.clear();
    m_inWord = false;
  }

  void endCommand() {
    endWord();
    if (!m_words.empty()) m_commands.push_back(std::move(m_words));
    m_words.clear();
  }

  std::string_view m_text;
  std::size_t m_at = 0;
  std::string m_word;
  bool m_inWord = false;
  std::vector<std::string> m_words;
  std::vector<std::vector<std::string>> m_commands;
};

}  // namespace

std::vector<std::vector<std::string>> shellCommands(std::string_view script) {
  return ShellReader(script).run();
}

}  // namespace fusescope
