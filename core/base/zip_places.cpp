#include "base/zip_places.h"

#include <algorithm>
#include <optional>

namespace fusescope {
namespace {

// Signatures and sizes of the parts of an archive, by the names of its specification (APPNOTE.TXT, 4.3).
constexpr std::uint64_t kLocalHeader = 0x04034b50, kCentralHeader = 0x02014b50, kEnd = 0x06054b50;
constexpr std::uint64_t kEnd64 = 0x06064b50, kEnd64Locator = 0x07064b50;
constexpr std::size_t kLocalBytes = 30, kCentralBytes = 46, kEndBytes = 22, kEnd64Bytes = 56, kLocatorBytes = 20;
constexpr std::size_t kLongestComment = 65535;
constexpr std::uint64_t kIn64 = 0xffffffff;  ///< the number stands in the extra field of 64 bits

/// Numbers of a file, read only where they are in it.
class Numbers {
 public:
  explicit Numbers(std::span<const std::byte> bytes) : m_bytes(bytes) {}
  bool has(std::uint64_t at, std::uint64_t count) const { return at <= m_bytes.size() && count <= m_bytes.size() - at; }
  /// The little-endian number of `count` bytes; 0 where the file does not have it.
  std::uint64_t at(std::uint64_t place, int count) const {
    std::uint64_t number = 0;
    if (!has(place, static_cast<std::uint64_t>(count))) return 0;
    for (int i = count; i-- > 0;) number = number << 8 | static_cast<std::uint8_t>(m_bytes[place + std::uint64_t(i)]);
    return number;
  }
  std::string text(std::uint64_t at, std::uint64_t count) const {
    return has(at, count) ? std::string(reinterpret_cast<const char*>(m_bytes.data()) + at, count) : std::string();
  }
  std::size_t size() const { return m_bytes.size(); }

 private:
  std::span<const std::byte> m_bytes;
};

struct Directory {
  std::uint64_t offset = 0, count = 0;
};

/// The directory that the end of the archive names.
std::optional<Directory> directoryOf(const Numbers& file) {
  if (file.size() < kEndBytes) return std::nullopt;
  const std::size_t last = file.size() - kEndBytes;
  const std::size_t first = last > kLongestComment ? last - kLongestComment : 0;
  std::size_t end = last;
  while (file.at(end, 4) != kEnd) {
    if (end == first) return std::nullopt;
    --end;
  }
  Directory directory{.offset = file.at(end + 16, 4), .count = file.at(end + 10, 2)};
  if (end < kLocatorBytes || file.at(end - kLocatorBytes, 4) != kEnd64Locator) return directory;
  const std::uint64_t end64 = file.at(end - kLocatorBytes + 8, 8);
  if (!file.has(end64, kEnd64Bytes) || file.at(end64, 4) != kEnd64) return std::nullopt;
  return Directory{.offset = file.at(end64 + 48, 8), .count = file.at(end64 + 32, 8)};
}

/// The numbers of an entry that may stand in the extra field of 64 bits, in the order in which they stand there.
struct Extent {
  std::uint64_t bytes, packed, header;
};

Extent extentOf(const Numbers& file, std::uint64_t entry, std::uint64_t nameBytes, std::uint64_t extraBytes) {
  Extent extent{.bytes = file.at(entry + 24, 4), .packed = file.at(entry + 20, 4), .header = file.at(entry + 42, 4)};
  std::uint64_t field = entry + kCentralBytes + nameBytes;
  const std::uint64_t end = field + extraBytes;
  while (field + 4 <= end) {
    const std::uint64_t length = file.at(field + 2, 2);
    if (file.at(field, 2) == 1) {
      std::uint64_t next = field + 4;
      for (std::uint64_t* number : {&extent.bytes, &extent.packed, &extent.header}) {
        if (*number != kIn64) continue;
        *number = next + 8 <= field + 4 + length ? file.at(next, 8) : kIn64;
        next += 8;
      }
    }
    field += 4 + length;
  }
  return extent;
}

}  // namespace

bool isZip(std::span<const std::byte> bytes) {
  return Numbers(bytes).at(0, 4) == kLocalHeader;
}

std::vector<ZipPlace> zipPlaces(std::span<const std::byte> archive) {
  const Numbers file(archive);
  std::vector<ZipPlace> places;
  const auto directory = directoryOf(file);
  if (!directory) return places;
  std::uint64_t entry = directory->offset;
  for (std::uint64_t i = 0; i < directory->count; ++i) {
    if (!file.has(entry, kCentralBytes) || file.at(entry, 4) != kCentralHeader) return places;
    const std::uint64_t nameBytes = file.at(entry + 28, 2), extraBytes = file.at(entry + 30, 2);
    const std::uint64_t flags = file.at(entry + 8, 2), method = file.at(entry + 10, 2);
    const Extent extent = extentOf(file, entry, nameBytes, extraBytes);
    ZipPlace& place = places.emplace_back(ZipPlace{.name = file.text(entry + kCentralBytes, nameBytes)});
    if (file.has(extent.header, kLocalBytes) && file.at(extent.header, 4) == kLocalHeader) {
      const std::uint64_t begin =
          extent.header + kLocalBytes + file.at(extent.header + 26, 2) + file.at(extent.header + 28, 2);
      place.offset = begin;
      place.bytes = extent.bytes;
      place.isStored =
          method == 0 && (flags & 1) == 0 && extent.packed == extent.bytes && file.has(begin, extent.bytes);
    }
    entry += kCentralBytes + nameBytes + extraBytes + file.at(entry + 32, 2);
  }
  return places;
}

}  // namespace fusescope
