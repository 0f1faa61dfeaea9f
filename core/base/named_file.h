#pragma once

#include <filesystem>
#include <string>

namespace fusescope {

/// Where the file is that the file `holder` names: as it is written, else from the folder of `holder`, else under its
/// own name in that folder. As it is written where it is at none of them.
std::filesystem::path fileNamedIn(const std::filesystem::path& holder, const std::string& named);

}  // namespace fusescope
