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

/// Joins fields into canonical bytes, so that ("ab","c") and ("a","bc") give different keys; hash() is the hash of
/// these bytes. Stores keep the bytes too, and compare them when they find an entry.
class KeyBuilder {
 public:
  KeyBuilder& text(std::string_view field);  ///< prefixed with its length
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
