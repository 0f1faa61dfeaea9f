#include "base/zip_places.h"

#include <optional>

#include "base/zip_records.h"

namespace fusescope {
namespace {

struct Directory {
  std::uint64_t offset = 0, count = 0;
};

/// Returns the directory to which the end of the archive refers.
std::optional<Directory> directoryOf(const zip::Bytes& file) {
  if (file.size() < zip::kEndSize) return std::nullopt;
  const std::size_t last = file.size() - zip::kEndSize;
  const std::size_t first = last > zip::kMostComment ? last - zip::kMostComment : 0;
  std::size_t end = last;
  while (file.number(end, 4) != zip::kEndMark) {
    if (end == first) return std::nullopt;
    --end;
  }
  Directory directory{.offset = file.number(end + 16, 4), .count = file.number(end + 10, 2)};
  if (end < zip::kLocatorSize || file.number(end - zip::kLocatorSize, 4) != zip::kLocatorMark) return directory;
  const std::uint64_t end64 = file.number(end - zip::kLocatorSize + 8, 8);
  if (!file.has(end64, zip::kEnd64Size) || file.number(end64, 4) != zip::kEnd64Mark) return std::nullopt;
  return Directory{.offset = file.number(end64 + 48, 8), .count = file.number(end64 + 32, 8)};
}

}  // namespace

bool isZip(std::span<const std::byte> bytes) {
  return zip::Bytes(bytes).number(0, 4) == zip::kLocalMark;
}

std::vector<ZipPlace> zipPlaces(std::span<const std::byte> archive) {
  const zip::Bytes file(archive);
  std::vector<ZipPlace> places;
  const auto directory = directoryOf(file);
  if (!directory) return places;
  std::uint64_t entry = directory->offset;
  for (std::uint64_t i = 0; i < directory->count; ++i) {
    if (!file.has(entry, zip::kCentralSize) || file.number(entry, 4) != zip::kCentralMark) return places;
    const std::uint64_t nameBytes = file.number(entry + 28, 2), extraBytes = file.number(entry + 30, 2);
    const std::uint64_t flags = file.number(entry + 8, 2), method = file.number(entry + 10, 2);
    const zip::EntryNumbers extent = zip::entryNumbers(file, entry);
    ZipPlace& place =
        places.emplace_back(ZipPlace{.name = std::string(file.text(entry + zip::kCentralSize, nameBytes))});
    if (file.has(extent.header, zip::kLocalSize) && file.number(extent.header, 4) == zip::kLocalMark) {
      const std::uint64_t begin = zip::contentOf(file, extent.header);
      place.offset = begin;
      place.bytes = extent.bytes;
      place.isStored =
          method == 0 && (flags & 1) == 0 && extent.packed == extent.bytes && file.has(begin, extent.bytes);
    }
    entry += zip::kCentralSize + nameBytes + extraBytes + file.number(entry + 32, 2);
  }
  return places;
}

}  // namespace fusescope
