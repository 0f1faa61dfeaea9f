#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "cache/disk_store.h"
#include "cache/kept_worth.h"

namespace fusescope {

/// What was removed from the store and from the measured times, and what is left of the times.
struct KeptCollected {
  std::int64_t entries = 0, times = 0;
  std::int64_t timesBytes = 0;
};

/// Returns how many bytes of measured times stay if entries and times together are brought below `limit`, what is worth
/// least per byte first. Times keep at most half of the limit.
std::int64_t roomForTimes(std::vector<KeptWorth> entries, std::vector<KeptWorth> times, std::int64_t limit);

/// Brings the store and the measured times in `timesFile` together below the limit, which is set first if it is given,
/// and does what DiskStore::collect() does. A file of times that cannot be used is left alone. Errors: those of
/// DiskStore::collectTo().
Result<KeptCollected> collectKept(DiskStore& store, const std::filesystem::path& timesFile,
                                  std::optional<std::int64_t> limit);

}  // namespace fusescope
