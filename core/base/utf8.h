#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace fusescope {

// UTF-8 as RFC 3629 and table 3-7 of the Unicode standard define it: a character has one to four bytes in the shortest
// form; surrogates and characters above U+10FFFF are invalid.

struct Utf8Character {
  char32_t code = 0;
  std::size_t length = 0;  ///< in bytes
};

/// Returns whether `code` is a Unicode scalar value, which UTF-8 can encode.
bool isUnicodeCharacter(char32_t code);

/// Decodes the character whose bytes begin at `at`. Returns nothing if there is no valid character, for example at the
/// end of `text`.
std::optional<Utf8Character> utf8At(std::string_view text, std::size_t at);

/// Returns `text` with each byte that belongs to no valid character replaced by U+FFFD.
std::string validUtf8(std::string_view text);

/// Appends `code`, which must be a Unicode scalar value, to `text` as UTF-8.
void appendUtf8(std::string& text, char32_t code);

}  // namespace fusescope
