// What is UTF-8 and what is not: RFC 3629, and table 3-7 of the Unicode standard.
#include "base/utf8.h"

#include <gtest/gtest.h>

namespace fusescope {
namespace {

std::string encoded(char32_t code) {
  std::string text;
  appendUtf8(text, code);
  return text;
}

struct Case {
  char32_t code;
  std::string bytes;
};

TEST(Utf8, TheFirstAndLastOfEachLength) {
  const Case cases[] = {
      {0x00, std::string(1, '\0')},
      {0x7f, "\x7f"},
      {0x80, "\xc2\x80"},
      {0x7ff, "\xdf\xbf"},
      {0x800, "\xe0\xa0\x80"},
      {0xd7ff, "\xed\x9f\xbf"},
      {0xe000, "\xee\x80\x80"},
      {0xffff, "\xef\xbf\xbf"},
      {0x10000, "\xf0\x90\x80\x80"},
      {0x3ffff, "\xf0\xbf\xbf\xbf"},
      {0x10ffff, "\xf4\x8f\xbf\xbf"},
  };
  for (const auto& [code, bytes] : cases) {
    EXPECT_EQ(encoded(code), bytes);
    const auto character = utf8At(bytes, 0);
    ASSERT_TRUE(character) << static_cast<unsigned>(code);
    EXPECT_EQ(character->code, code);
    EXPECT_EQ(character->length, bytes.size());
  }
}

TEST(Utf8, EveryCharacterComesBack) {
  for (char32_t code = 0; code <= 0x10ffff; ++code) {
    if (!isUnicodeCharacter(code)) continue;
    const auto character = utf8At(encoded(code), 0);
    ASSERT_TRUE(character && character->code == code) << static_cast<unsigned>(code);
  }
}

TEST(Utf8, SurrogatesAndWhatLiesBeyondTheLastAreNoCharacters) {
  for (const char32_t code : {0xd800, 0xdbff, 0xdc00, 0xdfff, 0x110000}) EXPECT_FALSE(isUnicodeCharacter(code));
  for (const char32_t code : {0x0, 0xd7ff, 0xe000, 0xffff, 0x10ffff}) EXPECT_TRUE(isUnicodeCharacter(code));
  for (const char* bytes : {"\xed\xa0\x80", "\xed\xaf\xbf", "\xed\xb0\x80", "\xed\xbf\xbf", "\xf4\x90\x80\x80",
                            "\xf5\x80\x80\x80", "\xf7\xbf\xbf\xbf"})
    EXPECT_FALSE(utf8At(bytes, 0));
}

TEST(Utf8, OverlongFormsAreNone) {
  const std::string forms[] = {"\xc0\x80",     "\xc1\xbf",         "\xe0\x80\x80",    "\xe0\x81\x81",
                               "\xe0\x9f\xbf", "\xf0\x80\x80\x80", "\xf0\x8f\xbf\xbf"};
  for (const std::string& bytes : forms) EXPECT_FALSE(utf8At(bytes, 0));
}

TEST(Utf8, NoCharacterBeginsWithTheseBytes) {
  for (unsigned first = 0x80; first <= 0xff; ++first) {
    if (first >= 0xc2 && first <= 0xf4) continue;
    for (const char* rest : {"", "\x80", "\x80\x80", "\x80\x80\x80", "\x80\x80\x80\x80", "abcd"})
      EXPECT_FALSE(utf8At(static_cast<char>(first) + std::string(rest), 0)) << first;
  }
}

TEST(Utf8, WhatIsCutOffOrInterruptedIsNone) {
  for (const char32_t code : {0x80, 0x800, 0x10000, 0x10ffff}) {
    const std::string whole = encoded(code);
    for (std::size_t length = 1; length < whole.size(); ++length) {
      const std::string part = whole.substr(0, length);
      for (const char* next : {"", "a", "\xc2\x80", "\xff"}) EXPECT_FALSE(utf8At(part + next, 0)) << length << next;
    }
  }
  EXPECT_FALSE(utf8At("", 0));
  EXPECT_FALSE(utf8At("a", 1));
  EXPECT_FALSE(utf8At("a", 2));
}

TEST(Utf8, OneCharacterAtATimeWhereverItStands) {
  const std::string text = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z";
  std::u32string codes;
  for (std::size_t at = 0; at < text.size();) {
    const auto character = utf8At(text, at);
    ASSERT_TRUE(character) << at;
    codes += character->code;
    at += character->length;
  }
  EXPECT_TRUE(codes == U"a\u00e9\u20ac\U0001f600z");
  EXPECT_FALSE(utf8At(text, 2)) << "in the midst of a character";
  EXPECT_FALSE(utf8At(std::string_view(text).substr(0, 2), 1)) << "the view ends before the text does";
}

}  // namespace
}  // namespace fusescope
