#pragma once

#include <string>

#include "base/json_fwd.h"

namespace fusescope::cli {

/// What the .pt2 at `path` says of itself beside its network, for people. `program`: its exportedProgramJson().
void printExportedProgram(const Json& program, const std::string& path);

}  // namespace fusescope::cli
