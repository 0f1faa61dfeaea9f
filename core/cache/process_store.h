#pragma once

#include <filesystem>
#include <memory>

#include "base/result.h"
#include "cache/shared_store.h"
#include "cache/shared_times.h"

namespace fusescope {

/// Enables the store of this process, which is in the folder of caches. It is off until a program calls this, because
/// libraries keep nothing by themselves. Must be called before anything uses the store.
void useStore(CacheMode mode);

/// Returns whether builds of this process may use measured times of earlier builds: unless a program called
/// useStore(CacheMode::Off). After useStore(CacheMode::Read), timing caches keep no new times.
bool areTimesUsed();

/// Returns the store of this process: on disk and, as its next level, in the place that the variable
/// FUSESCOPE_SHARED_STORE names (a folder or the address of a Redis), signed with the key in the file that
/// FUSESCOPE_SHARED_STORE_KEY names. Returns null if it is off, or if neither exists. It is opened on the first call
/// and exists until the process ends. Thread-safe.
KeptStore* storeOfProcess();

/// Returns the measured times in that place; null if the store is off or no place is named. `groupOf` is used by the
/// first call. It exists until the process ends. Thread-safe.
SharedTimes* sharedTimesOfProcess(SharedTimes::GroupOf groupOf);

/// Opens the place that these variables name. Returns null if none is named.
std::shared_ptr<SharedStore> sharedStoreOfVariables(CacheMode mode);

/// Returns the key in the file that FUSESCOPE_SHARED_STORE_KEY names; an empty one if none is named. Errors: those of
/// readSigningKey().
Result<SigningKey> signingKeyOfVariables();

/// Returns the folder of the store, which all processes of this user share. Errors: there is no folder for caches.
Result<std::filesystem::path> storeFolder();

}  // namespace fusescope
