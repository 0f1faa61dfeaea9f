#pragma once

#include <string>

#include "app/cli/command.h"

namespace fusescope::cli {

/// The plan options of both sides, and those of one of them behind them: `text`, as `option` gives it.
Result<PlanArguments> planArguments(const PlanArguments& both, const std::string& text, const std::string& option);

}  // namespace fusescope::cli
