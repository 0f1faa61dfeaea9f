#include "cache/kept_contents.h"

#include <fmt/format.h>

#include "base/quantities.h"
#include "base/text.h"
#include "cache/process_store.h"
#include "cache/timing_cache.h"

namespace fusescope {

namespace {

constexpr double kMebibyte = 1 << 20;

}  // namespace

KeptTimesFile keptTimesFile() {
  KeptTimesFile file{.path = timingCachePath()};
  std::error_code unknown;
  if (!std::filesystem::exists(file.path, unknown)) return file;
  if (const auto times = TimingCache::openKnown(file.path); times.ok()) {
    file.times = static_cast<std::int64_t>(times.value()->size());
    if (const std::string why = times.value()->problem(); !why.empty()) file.problem = "new times are not kept: " + why;
  } else {
    file.problem = times.error().message;
  }
  for (const char* suffix : {"", "-wal"}) {
    const auto bytes = std::filesystem::file_size(file.path.string() + suffix, unknown);
    if (!unknown) file.bytes += static_cast<std::int64_t>(bytes);
  }
  return file;
}

KeptContents keptContents(DiskStore& store) {
  KeptContents contents{.folder = store.folder(), .problem = store.problem(), .times = keptTimesFile()};
  if (!store.isUsable()) return contents;
  contents.entries = store.entries();
  contents.kinds = store.statistics();
  contents.bytes = store.storedBytes();
  contents.limit = store.limit();
  for (const StoreEntry& entry : contents.entries) contents.savedMs += entry.savedMs;
  return contents;
}

std::optional<SharedContents> sharedContents() {
  const auto shared = sharedStoreOfVariables(CacheMode::Read);
  if (shared == nullptr) return std::nullopt;
  shared->ping();
  SharedContents told{.place = shared->named(), .problem = shared->problem(), .contents = {}};
  if (!told.problem.empty()) return told;
  if (auto contents = shared->contents(); contents.ok()) told.contents = contents.value();
  return told;
}

std::string inWords(const LoadCost& load) {
  std::string text;
  if (load.fixedMs) text = inTime(*load.fixedMs);
  if (load.msPerByte) text += (text.empty() ? "" : " + ") + inTime(*load.msPerByte * kMebibyte) + " a MiB";
  return text.empty() ? "not measured yet" : text;
}

std::string entriesText(std::int64_t count) {
  return count == 1 ? "1 entry" : fmt::format("{} entries", count);
}

std::string timesText(std::int64_t count) {
  return fmt::format("{} of kernels", counted(count, "measured time"));
}

std::string inWords(const SharedContents& shared) {
  const std::string said = shared.problem.empty() ? "it answers" : shared.problem;
  if (!shared.contents) return said;
  return fmt::format("{}; {}, {}", said, entriesText(shared.contents->entries), inBytes(shared.contents->bytes));
}

std::string notKeptText(const KindStatistics& kind) {
  if (kind.record.notKept == 0) return {};
  return fmt::format("{} of kind {} not kept, because making them again is quicker than loading them",
                     kind.record.notKept == 1 ? "1 entry was" : fmt::format("{} entries were", kind.record.notKept),
                     kind.record.kind);
}

}  // namespace fusescope
