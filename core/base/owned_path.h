#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

namespace fusescope {

/// A process keeps a lock on the files and folders that it makes for its own use. The system releases the lock when the
/// process ends, however that happens, so that other processes can distinguish what is left over from what is in use.

/// Locks `descriptor`, an open file or folder that this process has just made. Returns false if another process took it
/// for left over and has removed it already; the caller then makes another one. If the file system has no locks, it
/// returns true, and nobody removes the file.
bool lockNewFile(int descriptor);

/// Removes every file and folder in `folder` whose name `isOurs` accepts, that belongs to this user, and that no
/// process has locked.
void removeAbandoned(const std::filesystem::path& folder, const std::function<bool(std::string_view name)>& isOurs);

}  // namespace fusescope
