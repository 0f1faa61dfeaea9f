#pragma once

#include "cache/disk_store.h"

namespace fusescope {

/// The store of this process is in the folder of caches, and off until a program says otherwise: libraries keep nothing
/// by themselves. To be said before anything asks for the store.
void useStore(CacheMode mode);

/// Null: it is off, or there is no folder for it. Opened when it is asked for first. Thread-safe; it stays for the life
/// of the process.
DiskStore* storeOfProcess();

/// The folder of the store of every process of this user. Errors: there is no folder for caches.
Result<std::filesystem::path> storeFolder();

}  // namespace fusescope
