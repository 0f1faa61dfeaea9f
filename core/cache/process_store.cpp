#include "cache/process_store.h"

#include <map>

#include "base/files.h"

namespace fusescope {
namespace {

struct Used {
  std::mutex mutex;
  CacheMode mode = CacheMode::Off;
  std::map<CacheMode, std::shared_ptr<DiskStore>> stores;  ///< that were asked for: whoever has one may keep it
};

Used& used() {
  static Used ofProcess;
  return ofProcess;
}

}  // namespace

void useStore(CacheMode mode) {
  const std::lock_guard lock(used().mutex);
  used().mode = mode;
}

DiskStore* storeOfProcess() {
  const std::lock_guard lock(used().mutex);
  if (used().mode == CacheMode::Off) return nullptr;
  std::shared_ptr<DiskStore>& store = used().stores[used().mode];
  if (store == nullptr)
    if (const auto folder = storeFolder(); folder.ok()) store = DiskStore::open(folder.value(), {.mode = used().mode});
  return store.get();
}

Result<std::filesystem::path> storeFolder() {
  return TRY(cacheFolder()) / "store";
}

}  // namespace fusescope
