#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace fusescope::zip {

// Signatures and sizes of the parts of an archive, by the names of its specification (APPNOTE.TXT, 4.3).
inline constexpr std::uint64_t kLocalMark = 0x04034b50, kCentralMark = 0x02014b50, kEndMark = 0x06054b50;
inline constexpr std::uint64_t kEnd64Mark = 0x06064b50, kLocatorMark = 0x07064b50;
inline constexpr std::size_t kLocalSize = 30, kCentralSize = 46, kEndSize = 22, kEnd64Size = 56, kLocatorSize = 20;
inline constexpr std::size_t kMostComment = 65535;
inline constexpr std::uint64_t kIn64 = 0xffffffff;  ///< the number stands in a field of 64 bits

/// An archive in memory, of which numbers and texts are read only where they are in it.
class Bytes {
 public:
  explicit Bytes(std::span<const std::byte> bytes)
      : m_text(reinterpret_cast<const char*>(bytes.data()), bytes.size()) {}
  bool has(std::uint64_t at, std::uint64_t count) const { return at <= m_text.size() && count <= m_text.size() - at; }
  /// The little-endian number of `count` bytes; 0 where the archive does not have it.
  std::uint64_t number(std::uint64_t at, int count) const;
  /// Empty where the archive does not have it.
  std::string_view text(std::uint64_t at, std::uint64_t count) const;
  std::size_t size() const { return m_text.size(); }

 private:
  std::string_view m_text;
};

/// Numbers of an entry of the directory that stand in its extra field of 64 bits where they are large.
struct EntryNumbers {
  std::uint64_t bytes = 0, packed = 0;  ///< of its content
  std::uint64_t header = 0;             ///< where the member begins
};
/// Of the entry at `at`. A number that is nowhere is kIn64.
EntryNumbers entryNumbers(const Bytes& archive, std::uint64_t at);

/// Where the content of the member at `header` begins: behind its own header.
std::uint64_t contentOf(const Bytes& archive, std::uint64_t header);

}  // namespace fusescope::zip
