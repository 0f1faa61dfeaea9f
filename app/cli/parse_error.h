#pragma once

#include <CLI/CLI.hpp>

#include "base/result.h"

namespace fusescope::cli {

/// Describes what is wrong with a command line in the words of a user; the parser's own messages are written for
/// programmers. It covers an option that is missing, that is given too often or together with one that excludes it, and
/// a value that is not allowed. The help names the command's own --help.
Diagnostic inWords(const CLI::ParseError& error, const CLI::App& app);

}  // namespace fusescope::cli
