#pragma once

#include <CLI/CLI.hpp>

#include "base/result.h"

namespace fusescope::cli {

/// What is wrong with a command line, in words, where the parser's own are a programmer's: an option that is missing,
/// given too often, or beside one that excludes it; a value that is none. The help names the command's own.
Diagnostic inWords(const CLI::ParseError& error, const CLI::App& app);

}  // namespace fusescope::cli
