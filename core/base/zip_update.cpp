#include "base/zip_update.h"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/zip_records.h"

namespace fusescope {
namespace {

constexpr std::uint64_t kElsewhere16 = 0xffff;  ///< the number is one of 64 bits elsewhere
constexpr std::size_t kAligned = 64;
constexpr std::uint64_t kPaddingField = 0x4246;  ///< the extra field with which PyTorch pads its headers
constexpr std::uint64_t kFirstDay = 0x00210000;  ///< date and time, of 1980: equal contents are equal archives
constexpr std::uint64_t kUtf8Flag = 0x800;

std::string little(std::uint64_t number, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(number >> (8 * i) & 0xff);
  return text;
}

std::uint64_t checkSum(std::string_view bytes) {
  return ::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
}

Diagnostic notWhole() {
  return {.message = "cannot be added to: the directory at the end of the archive is damaged or missing"};
}

struct DirectoryPlace {
  std::uint64_t offset = 0, bytes = 0, count = 0;
  std::string_view comment;
};

Result<DirectoryPlace> directoryIn(const zip::Bytes& archive) {
  if (archive.size() < zip::kEndSize) return notWhole();
  const std::size_t last = archive.size() - zip::kEndSize;
  const std::size_t first = last > zip::kMostComment ? last - zip::kMostComment : 0;
  std::optional<std::size_t> end;
  for (std::size_t at = last;; --at) {
    if (archive.number(at, 4) == zip::kEndMark && archive.number(at + 20, 2) == archive.size() - at - zip::kEndSize)
      end = at;
    if (end || at == first) break;
  }
  if (!end) return notWhole();
  DirectoryPlace place{.offset = archive.number(*end + 16, 4),
                       .bytes = archive.number(*end + 12, 4),
                       .count = archive.number(*end + 10, 2),
                       .comment = archive.text(*end + zip::kEndSize, archive.number(*end + 20, 2))};
  std::uint64_t behind = *end;  // where the directory must end
  bool isParted = archive.number(*end + 8, 2) != place.count || archive.number(*end + 4, 2) != 0;
  if (*end >= zip::kLocatorSize && archive.number(*end - zip::kLocatorSize, 4) == zip::kLocatorMark) {
    const std::uint64_t end64 = archive.number(*end - zip::kLocatorSize + 8, 8);
    if (!archive.has(end64, zip::kEnd64Size) || archive.number(end64, 4) != zip::kEnd64Mark) return notWhole();
    place.count = archive.number(end64 + 32, 8);
    place.bytes = archive.number(end64 + 40, 8);
    place.offset = archive.number(end64 + 48, 8);
    isParted = archive.number(end64 + 24, 8) != place.count;
    behind = end64;
  }
  if (isParted) return Diagnostic{.message = "cannot be added to: the archive is one of several parts"};
  if (!archive.has(place.offset, place.bytes) || place.offset + place.bytes > behind) return notWhole();
  return place;
}

struct DirectoryEntry {
  std::string_view name, record;  ///< the record: as it stands in the directory
  std::uint64_t header = 0;       ///< where the member begins
  std::uint64_t end = 0;          ///< and where its content ends
};

Result<std::vector<DirectoryEntry>> entriesIn(const zip::Bytes& archive, const DirectoryPlace& place) {
  std::vector<DirectoryEntry> entries;
  const std::uint64_t end = place.offset + place.bytes;
  std::uint64_t at = place.offset;
  for (std::uint64_t i = 0; i < place.count; ++i) {
    if (at + zip::kCentralSize > end || archive.number(at, 4) != zip::kCentralMark) return notWhole();
    const std::uint64_t nameBytes = archive.number(at + 28, 2);
    const std::uint64_t all = zip::kCentralSize + nameBytes + archive.number(at + 30, 2) + archive.number(at + 32, 2);
    if (at + all > end) return notWhole();
    const zip::EntryNumbers numbers = zip::entryNumbers(archive, at);
    const std::uint64_t header = numbers.header;
    if (header >= place.offset || !archive.has(header, zip::kLocalSize) || archive.number(header, 4) != zip::kLocalMark)
      return notWhole();
    entries.push_back(
        {.name = archive.text(at + zip::kCentralSize, nameBytes),
         .record = archive.text(at, all),
         .header = header,
         .end = zip::contentOf(archive, header) + std::min<std::uint64_t>(numbers.packed, archive.size())});
    at += all;
  }
  return entries;
}

/// Writes what follows the kept part: members, directory, end.
class Tail {
 public:
  explicit Tail(std::uint64_t begin) : m_begin(begin) {}

  void addMember(const ZipAddition& member) {
    const std::uint64_t header = at();
    const std::string sizes = little(checkSum(member.content), 4) + little(member.content.size(), 4) +
                              little(member.content.size(), 4) + little(member.name.size(), 2);
    const std::string common = little(kUtf8Flag, 2) + little(0, 2) + little(kFirstDay, 4) + sizes;
    const std::uint64_t bare = header + zip::kLocalSize + member.name.size();
    std::uint64_t padding = (kAligned - bare % kAligned) % kAligned;
    if (padding != 0 && padding < 4) padding += kAligned;  // a field has a number and a length
    std::string extra;
    if (padding != 0) extra = little(kPaddingField, 2) + little(padding - 4, 2) + std::string(padding - 4, 'Z');
    m_bytes += little(zip::kLocalMark, 4) + little(20, 2) + common + little(extra.size(), 2) + member.name + extra;
    m_bytes += member.content;
    const bool isFar = header >= zip::kIn64;
    const std::string far = isFar ? little(1, 2) + little(8, 2) + little(header, 8) : std::string();
    m_records.push_back(little(zip::kCentralMark, 4) + little(isFar ? 45 : 20, 2) + little(isFar ? 45 : 20, 2) +
                        common + little(far.size(), 2) + little(0, 2) + little(0, 2) + little(0, 2) + little(0, 4) +
                        little(isFar ? zip::kIn64 : header, 4) + member.name + far);
  }

  std::string finish(const std::vector<std::string_view>& keptRecords, std::string_view comment) && {
    const std::uint64_t directory = at();
    for (const std::string_view record : keptRecords) m_bytes += record;
    for (const std::string& record : m_records) m_bytes += record;
    const std::uint64_t bytes = at() - directory, count = keptRecords.size() + m_records.size();
    if (directory >= zip::kIn64 || bytes >= zip::kIn64 || count >= kElsewhere16) {
      const std::uint64_t end64 = at();
      m_bytes += little(zip::kEnd64Mark, 4) + little(zip::kEnd64Size - 12, 8) + little(45, 2) + little(45, 2) +
                 little(0, 4) + little(0, 4) + little(count, 8) + little(count, 8) + little(bytes, 8) +
                 little(directory, 8);
      m_bytes += little(zip::kLocatorMark, 4) + little(0, 4) + little(end64, 8) + little(1, 4);
    }
    const std::uint64_t shortCount = std::min(count, kElsewhere16);
    m_bytes += little(zip::kEndMark, 4) + little(0, 4) + little(shortCount, 2) + little(shortCount, 2) +
               little(std::min(bytes, zip::kIn64), 4) + little(std::min(directory, zip::kIn64), 4) +
               little(comment.size(), 2);
    m_bytes += comment;
    return std::move(m_bytes);
  }

 private:
  std::uint64_t at() const { return m_begin + m_bytes.size(); }

  std::uint64_t m_begin;
  std::string m_bytes;
  std::vector<std::string> m_records;
};

}  // namespace

Result<ZipUpdate> updatedZip(std::span<const std::byte> archive, const std::vector<ZipAddition>& additions) {
  const zip::Bytes file(archive);
  const DirectoryPlace place = TRY(directoryIn(file));
  const auto isReplaced = [&](const DirectoryEntry& entry) {
    return std::ranges::any_of(additions, [&](const ZipAddition& added) { return added.name == entry.name; });
  };
  std::vector<std::string_view> keptRecords;
  std::vector<std::uint64_t> replaced;
  std::uint64_t keptEnd = 0;
  for (const DirectoryEntry& entry : TRY(entriesIn(file, place))) {
    if (isReplaced(entry)) {
      replaced.push_back(entry.header);
    } else {
      keptRecords.push_back(entry.record);
      keptEnd = std::max(keptEnd, entry.end);
    }
  }
  // A replaced member at the end of the archive is overwritten, so that the archive does not grow when it is written
  // repeatedly.
  std::uint64_t kept = place.offset;
  for (const std::uint64_t header : replaced)
    if (header >= keptEnd) kept = std::min(kept, header);
  Tail tail(kept);
  for (const ZipAddition& member : additions) {
    if (member.name.size() > kElsewhere16 || member.content.size() >= zip::kIn64)
      return Diagnostic{.message = "is too large to be added to an archive", .where = {.attribute = member.name}};
    tail.addMember(member);
  }
  return ZipUpdate{.kept = archive.first(kept), .added = std::move(tail).finish(keptRecords, place.comment)};
}

}  // namespace fusescope
