#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace fusescope::zip {

// The signatures and sizes of the records of a zip archive, with the names of its specification (APPNOTE.TXT, 4.3).
inline constexpr std::uint64_t kLocalMark = 0x04034b50, kCentralMark = 0x02014b50, kEndMark = 0x06054b50;
inline constexpr std::uint64_t kEnd64Mark = 0x06064b50, kLocatorMark = 0x07064b50;
inline constexpr std::size_t kLocalSize = 30, kCentralSize = 46, kEndSize = 22, kEnd64Size = 56, kLocatorSize = 20;
inline constexpr std::size_t kMostComment = 65535;
inline constexpr std::uint64_t kIn64 = 0xffffffff;  ///< the number is in a field of 64 bits instead

/// An archive in memory. Reads outside the archive are safe.
class Bytes {
 public:
  explicit Bytes(std::span<const std::byte> bytes)
      : m_text(reinterpret_cast<const char*>(bytes.data()), bytes.size()) {}
  bool has(std::uint64_t at, std::uint64_t count) const { return at <= m_text.size() && count <= m_text.size() - at; }
  /// Returns the little-endian number of `count` bytes at `at`, or 0 if the archive ends before.
  std::uint64_t number(std::uint64_t at, int count) const;
  /// Returns `count` bytes at `at`, or an empty text if the archive ends before.
  std::string_view text(std::uint64_t at, std::uint64_t count) const;
  std::size_t size() const { return m_text.size(); }

 private:
  std::string_view m_text;
};

/// The numbers of an entry of the archive's directory. Large ones are stored in the entry's extra field, with 64 bits.
struct EntryNumbers {
  std::uint64_t bytes = 0, packed = 0;  ///< sizes of the content, unpacked and packed
  std::uint64_t header = 0;             ///< the offset of the member
};
/// Reads the numbers of the directory entry at `at`. A number that is nowhere in the archive is kIn64.
EntryNumbers entryNumbers(const Bytes& archive, std::uint64_t at);

/// Returns where the content of a member begins, which is after its own header. `header` is the offset of the member.
std::uint64_t contentOf(const Bytes& archive, std::uint64_t header);

}  // namespace fusescope::zip
