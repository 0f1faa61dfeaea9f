#pragma once

#include <filesystem>
#include <memory>

#include "base/result.h"
#include "cache/shared_store.h"

namespace fusescope {

/// The store of this process is in the folder of caches, and off until a program says otherwise: libraries keep nothing
/// by themselves. To be said before anything asks for the store.
void useStore(CacheMode mode);

/// What this process keeps: on disk, and behind that in the place that the variable FUSESCOPE_SHARED_STORE names, a
/// folder or an address of a Redis, signed with the key in the file that FUSESCOPE_SHARED_STORE_KEY names. Null: it is
/// off, or there is neither. Opened when it is asked for first. Thread-safe; it stays for the life of the process.
KeptStore* storeOfProcess();

/// The place that these variables name, opened anew. Null: none is named.
std::shared_ptr<SharedStore> sharedStoreOfVariables(CacheMode mode);

/// The folder of the store of every process of this user. Errors: there is no folder for caches.
Result<std::filesystem::path> storeFolder();

}  // namespace fusescope
