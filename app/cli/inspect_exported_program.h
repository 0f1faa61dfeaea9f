#pragma once

#include "base/json.h"

namespace fusescope::cli {

/// What a .pt2 says of itself beside its network, for people: exportedProgramJson().
void printExportedProgram(const Json& program);

}  // namespace fusescope::cli
