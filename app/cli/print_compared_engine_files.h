#pragma once

#include "app/cli/command.h"

namespace fusescope::cli {

/// Prints two plans that were read from files of engines side by side, with the times in these files.
Result<int> compareFilesOfEngines(const Artifact& a, const Artifact& b, bool json);

}  // namespace fusescope::cli
