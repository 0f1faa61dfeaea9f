#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "probe/environment.h"

namespace fusescope {

/// Returns the environments: the command in FUSESCOPE_PYTHON, the active virtual environment, python3 and python on
/// PATH, and those that the user added. It starts nothing. If the user's file cannot be read, the others are still
/// returned; userEnvironments() says why.
std::vector<Environment> findEnvironments();

// The user's environments are in $XDG_CONFIG_HOME/fusescope/environments.json (by default in ~/.config), with the
// commands that the user has confirmed. PROTOCOL.md describes the format. Several processes may change the file.

Result<std::vector<Environment>> userEnvironments();
/// Adds an environment, or replaces the one of that name, and confirms its command. Call it only for a command that the
/// user typed or agreed to. Errors: no name, the name of an environment that is found automatically, a command that
/// cannot be split into words, a file that cannot be read or written.
Status addEnvironment(const Environment& environment);
/// Removes an environment of the user. Errors: there is none of this name.
Status removeEnvironment(std::string_view name);

/// Returns whether a command may be started: Fusescope found it itself, or the user confirmed exactly this text.
bool isConfirmed(std::string_view command);
/// Notes that the user has confirmed the exact text of a command.
Status confirm(std::string_view command);

}  // namespace fusescope
