#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace fusescope {

/// A 128-bit content hash (XXH3). Equal content gives equal hashes on every machine.
struct Hash128 {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  auto operator<=>(const Hash128&) const = default;
  std::string hex() const;  ///< 32 lower-case digits
};

Hash128 hashBytes(std::span<const std::byte> bytes);
Hash128 hashText(std::string_view text);

/// Builds canonical bytes field by field, so that ("ab","c") and ("a","bc") differ; their hash is the key.
/// Stores keep the bytes too and compare them on a hit.
class KeyBuilder {
 public:
  KeyBuilder& text(std::string_view field);  ///< length-prefixed
  KeyBuilder& bytes(std::span<const std::byte> field);
  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T> KeyBuilder& number(T field) {
    return bytes(std::as_bytes(std::span(&field, 1)));
  }
  const std::string& canonical() const { return m_canonical; }
  Hash128 hash() const { return hashText(m_canonical); }

 private:
  std::string m_canonical;
};

}  // namespace fusescope
