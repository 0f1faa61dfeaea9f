#pragma once

#include "app/cli/command.h"

namespace fusescope::cli {

/// Two plans that were read from files of engines, side by side, by the times of the files.
Result<int> compareFilesOfEngines(const Artifact& a, const Artifact& b, bool json);

}  // namespace fusescope::cli
