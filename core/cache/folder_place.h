#pragma once

#include <filesystem>

#include "cache/abandonable_work.h"
#include "cache/folder_contents.h"
#include "cache/shared_place.h"

namespace fusescope {

struct FolderPlaceOptions {
  FolderTrust trust = FolderTrust::Signed;
  std::chrono::milliseconds limit = kPlaceTimeout;
  std::uint64_t mostBytes = std::uint64_t{1} << 30;
  /// For tests: called on the working thread before it begins.
  std::function<void()> onBegin{};
};

/// Returns a place in a folder that several machines may mount. It only contains files; FORMAT.md describes them. Links
/// in it are not followed, so that nothing outside the folder is read or written. The folder must exist; files in it
/// get the folder's permissions.
std::unique_ptr<SharedPlace> folderPlace(std::filesystem::path folder, FolderPlaceOptions options = {});

}  // namespace fusescope
