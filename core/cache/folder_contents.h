#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <string_view>

#include "base/descriptor.h"
#include "cache/shared_place.h"

namespace fusescope {

/// Who may have written the files in a folder.
enum class FolderTrust {
  Signed,  ///< anybody, because the files are signed
  Private  ///< only this user: nobody else can write the folder, its parents, or the file
};

inline constexpr const char* kUnfinishedFolder = "unfinished";

/// A folder that is open, and what the system says about it.
struct OpenFolder {
  Descriptor file;
  struct stat found {};
};

/// Opens the folder of a place. Errors: it is not there; with FolderTrust::Private, others can write it or replace it.
Result<OpenFolder> openRoot(const std::filesystem::path& folder, FolderTrust trust);
/// Returns whether only this user can write a file or folder.
bool isOwn(const struct stat& found);
/// Returns the error about a file or folder that other users can write.
Diagnostic writableByOthers(const std::filesystem::path& path);
/// Returns whether this is the name of an entry, so that it leads nowhere else.
bool isSharedName(std::string_view name);

/// Removes what writers left that were ended, by the clock of the file system, whose time is now `now`. Returns how
/// many files. `folder` is a descriptor.
std::int64_t removeUnfinished(int folder, std::int64_t now);

/// SharedPlace::contents() and SharedPlace::collect() of a folder.
Result<PlaceContents> countedIn(const std::filesystem::path& folder, FolderTrust trust, TransferDeadline& deadline);
Result<PlaceCollected> collectedIn(const std::filesystem::path& folder, FolderTrust trust, std::int64_t mostBytes,
                                   TransferDeadline& deadline);

}  // namespace fusescope
