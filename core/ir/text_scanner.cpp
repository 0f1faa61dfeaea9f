#include "ir/text_scanner.h"

#include <cctype>
#include <charconv>

#include "ir/text_form.h"

namespace fusescope::text_form {

void Scanner::skipSpace() {
  while (m_at < m_text.size()) {
    if (m_text.substr(m_at).starts_with("//")) {
      while (m_at < m_text.size() && m_text[m_at] != '\n') ++m_at;
    } else if (std::isspace(static_cast<unsigned char>(m_text[m_at])) != 0) {
      if (m_text[m_at++] == '\n') ++m_line;
    } else {
      return;
    }
  }
}

bool Scanner::atEnd() {
  skipSpace();
  return m_at == m_text.size();
}

bool Scanner::peek(std::string_view symbol) {
  skipSpace();
  return m_text.substr(m_at).starts_with(symbol);
}

bool Scanner::accept(std::string_view symbol) {
  if (!peek(symbol)) return false;
  m_at += symbol.size();
  return true;
}

Status Scanner::expect(std::string_view symbol) {
  if (accept(symbol)) return Done{};
  return error("expected '" + std::string(symbol) + "'");
}

std::string_view Scanner::wordHere() const {
  std::size_t end = m_at;
  while (end < m_text.size() && (end == m_at ? isWordStart(m_text[end]) : isWordPart(m_text[end]))) ++end;
  return m_text.substr(m_at, end - m_at);
}

bool Scanner::peekWord(std::string_view word) {
  skipSpace();
  return wordHere() == word;
}

bool Scanner::acceptWord(std::string_view word) {
  if (!peekWord(word)) return false;
  m_at += word.size();
  return true;
}

bool Scanner::peekDigit() {
  skipSpace();
  return m_at < m_text.size() && std::isdigit(static_cast<unsigned char>(m_text[m_at])) != 0;
}

Result<std::string> Scanner::string() {
  TRY(expect("\""));
  std::string text;
  for (; m_at < m_text.size() && m_text[m_at] != '"'; ++m_at) {
    const char c = m_text[m_at];
    if (c == '\n') break;
    if (c != '\\') {
      text += c;
      continue;
    }
    const char escape = ++m_at < m_text.size() ? m_text[m_at] : '\0';
    unsigned code = 0;
    const char* digits = m_text.data() + m_at + 1;
    switch (escape) {
      case 'n':
        text += '\n';
        break;
      case 't':
        text += '\t';
        break;
      case 'r':
        text += '\r';
        break;
      case '"':
      case '\\':
        text += escape;
        break;
      case 'x':
        if (m_at + 2 >= m_text.size() || std::from_chars(digits, digits + 2, code, 16).ptr != digits + 2)
          return error("\\x needs two hexadecimal digits");
        text += static_cast<char>(code);
        m_at += 2;
        break;
      default:
        return error("unknown escape in a string");
    }
  }
  if (m_at >= m_text.size() || m_text[m_at] != '"') return error("the closing quotation mark of a string is missing");
  ++m_at;
  return text;
}

Result<std::string> Scanner::name() {
  if (peekString()) return string();
  const std::string_view word = wordHere();
  if (word.empty() || word == "_") return error("expected a name");
  m_at += word.size();
  return std::string(word);
}

Result<std::string> Scanner::number() {
  skipSpace();
  const std::size_t start = m_at;
  while (m_at < m_text.size() && (std::isalnum(static_cast<unsigned char>(m_text[m_at])) != 0 || m_text[m_at] == '.' ||
                                  m_text[m_at] == '-' || m_text[m_at] == '+'))
    ++m_at;
  if (m_at == start) return error("expected a number");
  return std::string(m_text.substr(start, m_at - start));
}

Diagnostic Scanner::error(std::string message) const {
  return {.message = "line " + std::to_string(m_line) + ": " + std::move(message)};
}

}  // namespace fusescope::text_form
