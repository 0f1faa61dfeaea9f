#include "cache/process_store.h"

#include <cstdlib>
#include <map>
#include <mutex>

#include "base/files.h"
#include "cache/disk_store.h"
#include "cache/store_clock.h"
#include "cache/store_levels.h"
#include "cache/timing_cache.h"

namespace fusescope {
namespace {

struct Used {
  std::mutex mutex;
  CacheMode mode = CacheMode::Off;
  bool areTimesUsed = true;
  std::function<double()> nowMs;  ///< setStoreClock(); empty: the clock of this machine
  /// The stores that were requested; they are never removed, because callers may still use them.
  std::map<CacheMode, std::shared_ptr<KeptStore>> stores;
  /// The place of a team, which is one object for answers and times, so that a place that fails costs its time once.
  std::map<CacheMode, std::shared_ptr<SharedStore>> places;
  std::map<CacheMode, std::unique_ptr<SharedTimes>> times;
};

Used& used() {
  static Used ofProcess;
  return ofProcess;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

/// Returns the place of a team for `mode`; null if there is none.
std::shared_ptr<SharedStore> placeFor(Used& used, CacheMode mode) {
  std::shared_ptr<SharedStore>& place = used.places[mode];
  if (place == nullptr) place = sharedStoreOfVariables(mode);
  return place;
}

/// Opens the levels of the store for `mode`. Returns null if there is none.
std::shared_ptr<KeptStore> openLevels(Used& used, CacheMode mode) {
  std::vector<std::shared_ptr<KeptStore>> levels;
  if (const auto folder = storeFolder(); folder.ok())
    levels.push_back(DiskStore::open(folder.value(), {.mode = mode, .nowMs = used.nowMs}));
  if (auto shared = placeFor(used, mode)) levels.push_back(std::move(shared));
  if (levels.size() < 2) return levels.empty() ? nullptr : levels.front();
  return std::make_shared<StoreLevels>(std::move(levels));
}

}  // namespace

void useStore(CacheMode mode) {
  const std::lock_guard lock(used().mutex);
  used().mode = mode;
  used().areTimesUsed = mode != CacheMode::Off;
  keepNewTimes(mode != CacheMode::Read);
}

bool areTimesUsed() {
  const std::lock_guard lock(used().mutex);
  return used().areTimesUsed;
}

void setStoreClock(std::function<double()> nowMs) {
  const std::lock_guard lock(used().mutex);
  used().nowMs = std::move(nowMs);
}

KeptStore* storeOfProcess() {
  const std::lock_guard lock(used().mutex);
  if (used().mode == CacheMode::Off) return nullptr;
  std::shared_ptr<KeptStore>& store = used().stores[used().mode];
  if (store == nullptr) store = openLevels(used(), used().mode);
  return store.get();
}

SharedTimes* sharedTimesOfProcess(SharedTimes::GroupOf groupOf) {
  const std::lock_guard lock(used().mutex);
  const CacheMode mode = used().mode;
  const auto place = mode == CacheMode::Off ? nullptr : placeFor(used(), mode);
  if (place == nullptr) return nullptr;
  std::unique_ptr<SharedTimes>& times = used().times[mode];
  if (times == nullptr) times = std::make_unique<SharedTimes>(place, std::move(groupOf));
  return times.get();
}

Result<SigningKey> signingKeyOfVariables() {
  const std::string file = variable("FUSESCOPE_SHARED_STORE_KEY");
  return file.empty() ? SigningKey() : readSigningKey(file);
}

std::shared_ptr<SharedStore> sharedStoreOfVariables(CacheMode mode) {
  const std::string place = variable("FUSESCOPE_SHARED_STORE");
  if (place.empty()) return nullptr;
  const auto folder = storeFolder();
  return SharedStore::open(
      place, variable("FUSESCOPE_SHARED_STORE_KEY"),
      {.mode = mode, .restFile = folder.ok() ? folder.value() / "shared_rest.json" : std::filesystem::path()});
}

Result<std::filesystem::path> storeFolder() {
  return TRY(cacheFolder()) / "store";
}

}  // namespace fusescope
