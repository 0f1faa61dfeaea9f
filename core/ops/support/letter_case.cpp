#include "ops/support/letter_case.h"

#include <locale.h>
#include <wctype.h>

#include <cstdint>

namespace fusescope::ops {
namespace {

/// The C library's locale that knows Unicode's case mapping and no language's own rules. Never freed.
locale_t unicodeLocale() {
  static const locale_t kLocale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  return kLocale;
}

/// How many bytes the code point that begins with `first` has; 1 for what begins none.
std::size_t lengthOf(unsigned char first) {
  return first >= 0xf0 && first < 0xf8 ? 4 : first >= 0xe0 && first < 0xf0 ? 3 : first >= 0xc2 && first < 0xe0 ? 2 : 1;
}

bool continues(const std::string& text, std::size_t from, std::size_t count) {
  if (from + count > text.size()) return false;
  for (std::size_t i = 1; i < count; ++i)
    if ((static_cast<unsigned char>(text[from + i]) & 0xc0U) != 0x80U) return false;
  return true;
}

std::uint32_t decoded(const std::string& text, std::size_t from, std::size_t count) {
  std::uint32_t code = static_cast<unsigned char>(text[from]) & (0x7fU >> count);
  for (std::size_t i = 1; i < count; ++i) code = code << 6 | (static_cast<unsigned char>(text[from + i]) & 0x3fU);
  return code;
}

void append(std::string& text, std::uint32_t code) {
  const auto tail = [&](unsigned shift) { text += static_cast<char>(0x80U | ((code >> shift) & 0x3fU)); };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xc0U | code >> 6);
    tail(0);
  } else if (code < 0x10000) {
    text += static_cast<char>(0xe0U | code >> 12);
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xf0U | code >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace

Result<std::string> inCase(const std::string& text, LetterCase letterCase) {
  const locale_t locale = unicodeLocale();
  if (locale == nullptr) return Diagnostic{.message = "the system has no locale C.UTF-8 to change letter case by"};
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const auto first = static_cast<unsigned char>(text[at]);
    const std::size_t count = lengthOf(first);
    if (first >= 0x80 && (count == 1 || !continues(text, at, count))) {
      result += text[at++];
      continue;
    }
    const auto code = static_cast<wint_t>(count == 1 ? first : decoded(text, at, count));
    append(result, static_cast<std::uint32_t>(letterCase == LetterCase::Lower ? towlower_l(code, locale)
                                                                              : towupper_l(code, locale)));
    at += count;
  }
  return result;
}

}  // namespace fusescope::ops
