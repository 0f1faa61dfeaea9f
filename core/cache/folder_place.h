#pragma once

#include <filesystem>

#include "cache/left_behind.h"
#include "cache/shared_place.h"

namespace fusescope {

/// Whose files a folder may have.
enum class FolderTrust {
  Signed,  ///< anybody's: what is read is signed
  Private  ///< only this user's: nobody else can write the folder, those above it, or the file
};

struct FolderPlaceOptions {
  FolderTrust trust = FolderTrust::Signed;
  std::chrono::milliseconds limit = kPlacePatience;
  std::uint64_t mostBytes = std::uint64_t{1} << 30;
  /// For tests: called on the thread that works, before it does.
  std::function<void()> onBegin{};
};

/// A place in a folder that several machines may have mounted: files alone, FORMAT.md says how they lie. No link in it
/// is followed, and nothing leads out of it. The folder must be there; what is in it has the rights that it has.
std::unique_ptr<SharedPlace> folderPlace(std::filesystem::path folder, FolderPlaceOptions options = {});

}  // namespace fusescope
