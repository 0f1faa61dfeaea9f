#include "base/part_hashes.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

namespace fusescope {
namespace {

/// A content of a file, and the offset and size of a part of it.
struct PartOfFile {
  FileIdentity file;
  std::size_t offset = 0, size = 0;
  auto operator<=>(const PartOfFile&) const = default;
};

struct PartHashes {
  std::mutex mutex;
  int wanted = 0;
  std::map<PartOfFile, Hash128> known;
};

PartHashes& partHashes() {
  static PartHashes all;
  return all;
}

PartOfFile placeOf(const MappedFile& file, std::span<const std::byte> part) {
  return {file.identity(), static_cast<std::size_t>(part.data() - file.bytes().data()), part.size()};
}

}  // namespace

PartHashesWanted::PartHashesWanted() {
  const std::scoped_lock lock(partHashes().mutex);
  ++partHashes().wanted;
}

PartHashesWanted::~PartHashesWanted() {
  const std::scoped_lock lock(partHashes().mutex);
  if (--partHashes().wanted == 0) partHashes().known.clear();
}

bool arePartHashesWanted() {
  const std::scoped_lock lock(partHashes().mutex);
  return partHashes().wanted > 0;
}

void keepPartHash(const MappedFile& file, std::span<const std::byte> part, const Hash128& hash) {
  const std::scoped_lock lock(partHashes().mutex);
  if (partHashes().wanted > 0) partHashes().known.insert_or_assign(placeOf(file, part), hash);
}

std::optional<Hash128> partHash(std::span<const std::shared_ptr<const MappedFile>> files,
                                std::span<const std::byte> part) {
  const auto file = std::ranges::find_if(files, [&](const auto& each) { return each->holds(part.data()); });
  if (file == files.end()) return std::nullopt;
  const std::scoped_lock lock(partHashes().mutex);
  const auto found = partHashes().known.find(placeOf(**file, part));
  return found == partHashes().known.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace fusescope
