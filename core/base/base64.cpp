#include "base/base64.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace fusescope {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNoDigit = 0xff;
constexpr std::size_t kGroup = 4;  ///< digits, of three bytes

constexpr std::array<std::uint8_t, 256> digitTable() {
  std::array<std::uint8_t, 256> table{};
  table.fill(kNoDigit);
  for (std::size_t i = 0; i < kDigits.size(); ++i)
    table[static_cast<unsigned char>(kDigits[i])] = static_cast<std::uint8_t>(i);
  return table;
}
constexpr std::array<std::uint8_t, 256> kValueOf = digitTable();

}  // namespace

std::optional<std::string> decodeBase64(std::string_view text) {
  if (text.size() % kGroup != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && text.ends_with('=')) {
    text.remove_suffix(1);
    ++padding;
  }
  std::string bytes;
  bytes.reserve(text.size() * 3 / kGroup);
  std::uint32_t bits = 0;
  int held = 0;  // bits that are in no byte yet
  for (const char digit : text) {
    const std::uint8_t value = kValueOf[static_cast<unsigned char>(digit)];
    if (value == kNoDigit) return std::nullopt;
    bits = bits << 6 | value;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes.push_back(static_cast<char>(bits >> held & 0xff));
  }
  const bool rest = (bits & ((1U << held) - 1)) != 0;  // padded bits must be 0
  if (rest) return std::nullopt;
  return bytes;
}

std::string encodeBase64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * kGroup);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i)
      bits = bits << 8 | (i < count ? static_cast<unsigned char>(bytes[at + i]) : std::uint32_t{0});
    for (std::size_t digit = 0; digit < kGroup; ++digit)
      text.push_back(digit <= count ? kDigits[bits >> (18 - 6 * digit) & 63] : '=');
  }
  return text;
}

}  // namespace fusescope
