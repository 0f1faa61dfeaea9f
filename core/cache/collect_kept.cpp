#include "cache/collect_kept.h"

#include <algorithm>

#include "cache/timing_cache.h"

namespace fusescope {

std::int64_t roomForTimes(std::vector<KeptWorth> entries, std::vector<KeptWorth> times, std::int64_t limit) {
  struct Part {
    KeptWorth worth;
    bool isTime;
  };
  std::vector<Part> parts;
  std::int64_t all = 0, ofTimes = 0;
  for (const KeptWorth& each : entries) parts.push_back({each, false});
  for (const KeptWorth& each : times) {
    parts.push_back({each, true});
    ofTimes += each.bytes;
  }
  for (const Part& part : parts) all += part.worth.bytes;
  std::ranges::stable_sort(parts, {}, [](const Part& part) { return part.worth.perByte; });
  for (const Part& part : parts) {
    if (all <= limit) break;
    all -= part.worth.bytes;
    if (part.isTime) ofTimes -= part.worth.bytes;
  }
  return std::min(ofTimes, TimingCache::mostBytes(limit));
}

Result<KeptCollected> collectKept(DiskStore& store, const std::filesystem::path& timesFile,
                                  std::optional<std::int64_t> limit) {
  KeptCollected collected;
  std::error_code unknown;
  if (std::filesystem::exists(timesFile, unknown)) {
    if (const auto times = TimingCache::openKnown(timesFile); times.ok()) {
      const std::int64_t most = limit.value_or(store.limit());
      const std::int64_t room = roomForTimes(store.worths(), times.value()->worths(), most);
      collected.times = times.value()->collectTo(room, most);
      collected.timesBytes = times.value()->bytes();
    }
  }
  collected.entries = limit ? TRY(store.collectTo(*limit)) : store.collect();
  return collected;
}

}  // namespace fusescope
