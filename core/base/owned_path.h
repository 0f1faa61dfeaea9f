#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

namespace fusescope {

/// Files and folders that this process makes for itself are locked while they are its own. The system takes the lock
/// away with the process, however that ends, so that whoever comes next can tell what was left from what is in use.

/// Locks `descriptor`, an open file or folder that this process has just made. False: another process took it for left
/// and has removed it; make another. Where the file system has no locks it stays without one, and nobody removes it.
bool lockOwn(int descriptor);

/// Removes what of `folder` has a name that `isOurs` knows, belongs to this user and is locked by nobody.
void removeAbandoned(const std::filesystem::path& folder, const std::function<bool(std::string_view name)>& isOurs);

}  // namespace fusescope
