#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fusescope::text_form {

/// Walks over the text of a graph. Every error names the line.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : m_text(text) {}

  bool atEnd();
  bool peek(std::string_view symbol);    ///< punctuation, not a word
  bool accept(std::string_view symbol);  ///< takes it if it is next
  Status expect(std::string_view symbol);
  bool peekWord(std::string_view word);  ///< the whole word, not its beginning
  bool acceptWord(std::string_view word);
  bool peekString() { return peek("\""); }
  bool peekDigit();
  Result<std::string> string();
  Result<std::string> name();  ///< a word or a string
  /// Digits, sign, point, exponent, or nan, inf, true, false: what stands up to the next separator.
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
