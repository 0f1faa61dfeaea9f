#pragma once

#include "app/cli/command.h"

namespace fusescope::cli {

Command reportCommand(CLI::App& app);  ///< the verb, as those of command.h

}  // namespace fusescope::cli
