#include "ops/support/letter_case.h"

#include <locale.h>
#include <wctype.h>

#include "base/utf8.h"

namespace fusescope::ops {
namespace {

/// Returns a locale of the C library with Unicode's case mapping and no rules of a language. It is never freed.
locale_t unicodeLocale() {
  static const locale_t kLocale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  return kLocale;
}

}  // namespace

Result<std::string> inCase(const std::string& text, LetterCase letterCase) {
  const locale_t locale = unicodeLocale();
  if (locale == nullptr)
    return Diagnostic{.message = "the system has no locale C.UTF-8, which is needed to change the case of letters"};
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const auto character = utf8At(text, at);
    if (!character) {
      result += text[at++];
      continue;
    }
    const auto code = static_cast<wint_t>(character->code);
    appendUtf8(result, letterCase == LetterCase::Lower ? towlower_l(code, locale) : towupper_l(code, locale));
    at += character->length;
  }
  return result;
}

}  // namespace fusescope::ops
