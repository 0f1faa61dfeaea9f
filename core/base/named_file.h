#pragma once

#include <filesystem>
#include <string>

namespace fusescope {

/// Returns the path of the file that the file `holder` refers to as `named`. It tries `named` as it is, then relative
/// to the folder of `holder`, then the bare file name in that folder. If none of these exists, it returns `named`.
std::filesystem::path fileNamedIn(const std::filesystem::path& holder, const std::string& named);

}  // namespace fusescope
