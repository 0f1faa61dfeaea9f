#include "interchange/npy_text.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/utf8.h"

namespace fusescope {
namespace {

constexpr std::size_t kCharacterBytes = 4;

Result<std::u32string> charactersOf(std::string_view text) {
  std::u32string characters;
  for (std::size_t at = 0; at < text.size();) {
    const auto character = utf8At(text, at);
    if (!character) return Diagnostic{.message = "holds text that is not valid UTF-8, which .npy cannot hold"};
    characters += character->code;
    at += character->length;
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
      if (!isUnicodeCharacter(characters[at])) return Diagnostic{.message = "contains a code that is not a character"};
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
