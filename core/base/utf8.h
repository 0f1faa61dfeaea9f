#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace fusescope {

// UTF-8 as RFC 3629 and table 3-7 of the Unicode standard have it: one to four bytes, always the shortest form, no
// surrogates, nothing above U+10FFFF.

struct Utf8Character {
  char32_t code = 0;
  std::size_t length = 0;  ///< in bytes
};

/// Whether `code` is a Unicode scalar value: what UTF-8 can hold.
bool isUnicodeCharacter(char32_t code);

/// The character whose bytes begin at `at`; nothing if none does, at the end of `text` for one.
std::optional<Utf8Character> utf8At(std::string_view text, std::size_t at);

/// `text` with U+FFFD in place of each byte that is of no character.
std::string validUtf8(std::string_view text);

/// Appends the bytes of `code`, which must be a Unicode character.
void appendUtf8(std::string& text, char32_t code);

}  // namespace fusescope
