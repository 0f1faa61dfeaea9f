#pragma once

#include <string>

#include "base/json_fwd.h"

namespace fusescope::cli {

/// Prints for people what the .pt2 file at `path` contains besides its network. `program` is its exportedProgramJson().
void printExportedProgram(const Json& program, const std::string& path);

}  // namespace fusescope::cli
