#include "base/hash.h"

#include <xxhash.h>

namespace fusescope {

std::string Hash128::hex() const {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text(32, '0');
  for (std::size_t i = 0; i < 16; ++i) {
    text[15 - i] = kDigits[(high >> (4 * i)) & 15];
    text[31 - i] = kDigits[(low >> (4 * i)) & 15];
  }
  return text;
}

Hash128 hashBytes(std::span<const std::byte> bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.high64, hash.low64};
}

Hash128 hashText(std::string_view text) {
  return hashBytes(std::as_bytes(std::span(text.data(), text.size())));
}

KeyBuilder& KeyBuilder::text(std::string_view field) {
  return bytes(std::as_bytes(std::span(field.data(), field.size())));
}

KeyBuilder& KeyBuilder::bytes(std::span<const std::byte> field) {
  const std::uint64_t size = field.size();
  m_canonical.append(reinterpret_cast<const char*>(&size), sizeof size);
  m_canonical.append(reinterpret_cast<const char*>(field.data()), field.size());
  return *this;
}

}  // namespace fusescope
