#include "interchange/npy_text.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace fusescope {
namespace {

constexpr std::size_t kCharacterBytes = 4;
constexpr char32_t kLastCharacter = 0x10ffff;

bool isCharacter(char32_t character) {
  return character <= kLastCharacter && (character < 0xd800 || character > 0xdfff);
}

void appendUtf8(std::string& text, char32_t character) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80 | ((character >> shift) & 0x3f)); };
  if (character < 0x80) {
    text += static_cast<char>(character);
  } else if (character < 0x800) {
    text += {static_cast<char>(0xc0 | (character >> 6)), tail(0)};
  } else if (character < 0x10000) {
    text += {static_cast<char>(0xe0 | (character >> 12)), tail(6), tail(0)};
  } else {
    text += {static_cast<char>(0xf0 | (character >> 18)), tail(12), tail(6), tail(0)};
  }
}

/// Takes one character off the front of `text`; nothing if it does not begin with one.
std::optional<char32_t> takeCharacter(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t length = first < 0x80 ? 1 : first < 0xc0 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (length == 0 || text.size() < length) return std::nullopt;
  char32_t character = length == 1 ? first : first & (0xff >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xc0) != 0x80) return std::nullopt;
    character = character << 6 | (byte & 0x3f);
  }
  text.remove_prefix(length);
  return isCharacter(character) ? std::optional(character) : std::nullopt;
}

Result<std::u32string> charactersOf(std::string_view text) {
  std::u32string characters;
  while (!text.empty()) {
    const auto character = takeCharacter(text);
    if (!character) return Diagnostic{.message = "holds text that is not valid UTF-8, which .npy cannot hold"};
    characters += *character;
  }
  return characters;
}

}  // namespace

std::optional<std::size_t> npyTextWidth(std::string_view descr) {
  if (!descr.starts_with("<U")) return std::nullopt;
  std::size_t width = 0;
  const char* end = descr.data() + descr.size();
  const auto read = std::from_chars(descr.data() + 2, end, width);
  const bool whole = read.ec == std::errc() && read.ptr == end && width > 0 && width < std::size_t{1} << 24;
  return whole ? std::optional(width) : std::nullopt;
}

std::size_t npyTextBytes(std::size_t width) {
  return width * kCharacterBytes;
}

Result<Tensor> textFromNpy(std::span<const std::byte> bytes, std::size_t width, const Dims& dims) {
  std::vector<std::string> strings(static_cast<std::size_t>(elementCount(dims).value_or(0)));
  std::u32string characters(width, U'\0');
  for (std::size_t i = 0; i < strings.size(); ++i) {
    std::memcpy(characters.data(), bytes.data() + i * npyTextBytes(width), npyTextBytes(width));
    const auto last = characters.find_last_not_of(U'\0');
    for (std::size_t at = 0; last != std::u32string::npos && at <= last; ++at) {
      if (!isCharacter(characters[at])) return Diagnostic{.message = "holds text with something that is no character"};
      appendUtf8(strings[i], characters[at]);
    }
  }
  return Tensor::ofStrings(dims, std::move(strings));
}

Result<NpyText> textToNpy(const Tensor& tensor) {
  std::vector<std::u32string> strings;
  std::size_t width = 1;  // numpy has no text of width 0
  for (const std::string& text : tensor.strings()) {
    strings.push_back(TRY(charactersOf(text)));
    width = std::max(width, strings.back().size());
  }
  NpyText result{.descr = "<U" + std::to_string(width), .bytes = {}};
  for (std::u32string& text : strings) {
    text.resize(width, U'\0');
    result.bytes.append(reinterpret_cast<const char*>(text.data()), npyTextBytes(width));
  }
  return result;
}

}  // namespace fusescope
