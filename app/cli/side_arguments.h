#pragma once

#include <string>

#include "app/cli/command.h"

namespace fusescope::cli {

/// Returns the plan options of both sides, followed by those of one side: `text` is the value of `option`, and is
/// parsed like a command line. Errors: `text` is not a list of plan options.
Result<PlanArguments> planArguments(const PlanArguments& both, const std::string& text, const std::string& option);

}  // namespace fusescope::cli
