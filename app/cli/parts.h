#pragma once

#include "app/cli/command.h"

namespace fusescope::cli {

// Verbs that write other networks out of one, as those of command.h.
Command extractCommand(CLI::App& app);
Command replaceCommand(CLI::App& app);
Command inputsCommand(CLI::App& app);
/// An engine out of another one.
Command refitCommand(CLI::App& app);
// What is kept between programs.
Command cacheCommand(CLI::App& app);

}  // namespace fusescope::cli
