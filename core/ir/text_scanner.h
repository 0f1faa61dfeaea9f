#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fusescope::text_form {

/// Reads the text of a graph from its beginning to its end. Every error names the line.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : m_text(text) {}

  bool atEnd();
  bool peek(std::string_view symbol);    ///< `symbol` is punctuation, not a word
  bool accept(std::string_view symbol);  ///< skips the symbol if it is next, and returns whether it was
  Status expect(std::string_view symbol);
  bool peekWord(std::string_view word);  ///< compares the whole next word
  bool acceptWord(std::string_view word);
  bool peekString() { return peek("\""); }
  bool peekDigit();
  Result<std::string> string();
  Result<std::string> name();  ///< reads a word or a quoted string
  /// Reads everything up to the next separator: digits, sign, point and exponent, or nan, inf, true, false.
  Result<std::string> number();
  Diagnostic error(std::string message) const;

 private:
  void skipSpace();
  std::string_view wordHere() const;

  std::string_view m_text;
  std::size_t m_at = 0;
  int m_line = 1;
};

}  // namespace fusescope::text_form
