#include "base/utf8.h"

#include <bit>
#include <cassert>

namespace fusescope {
namespace {

/// The smallest character that needs this many bytes; a smaller one with as many bytes is an overlong form.
constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};

}  // namespace

bool isUnicodeCharacter(char32_t code) {
  return code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
}

std::optional<Utf8Character> utf8At(std::string_view text, std::size_t at) {
  if (at >= text.size()) return std::nullopt;
  const auto first = static_cast<unsigned char>(text[at]);
  const int ones = std::countl_one(first);  // none: ASCII; one: a continuation byte; otherwise the length
  if (ones == 1 || ones > 4) return std::nullopt;
  const std::size_t length = ones == 0 ? 1 : static_cast<std::size_t>(ones);
  if (text.size() - at < length) return std::nullopt;
  char32_t code = first & (0xffU >> ones);
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[at + i]);
    if ((byte & 0xc0U) != 0x80U) return std::nullopt;
    code = code << 6 | (byte & 0x3fU);
  }
  if (code < kLeast[length] || !isUnicodeCharacter(code)) return std::nullopt;
  return Utf8Character{.code = code, .length = length};
}

void appendUtf8(std::string& text, char32_t code) {
  assert(isUnicodeCharacter(code));
  const auto tail = [&](int shift) { return static_cast<char>(0x80U | ((code >> shift) & 0x3fU)); };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += {static_cast<char>(0xc0U | code >> 6), tail(0)};
  } else if (code < 0x10000) {
    text += {static_cast<char>(0xe0U | code >> 12), tail(6), tail(0)};
  } else {
    text += {static_cast<char>(0xf0U | code >> 18), tail(12), tail(6), tail(0)};
  }
}

std::string validUtf8(std::string_view text) {
  constexpr char32_t kReplacement = 0xFFFD;
  std::string valid;
  valid.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto character = utf8At(text, at);
    if (character)
      valid.append(text.substr(at, character->length));
    else
      appendUtf8(valid, kReplacement);
    at += character ? character->length : 1;
  }
  return valid;
}

}  // namespace fusescope
