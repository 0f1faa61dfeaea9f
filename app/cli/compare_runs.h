#pragma once

#include <string>
#include <vector>

#include "app/cli/command.h"

namespace fusescope::cli {

/// Prints the runs `ids` of the session at `path` side by side; `blocks` asks for a row for each module. Errors: a run
/// does not exist, or its plan cannot be made again.
Result<int> compareRuns(const std::string& path, const std::vector<std::string>& ids, bool blocks, bool json);

}  // namespace fusescope::cli
