#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/stop.h"
#include "probe/environment.h"
#include "probe/probe_options.h"

namespace fusescope {

/// A compiler that the probe can reach, and whether it is in an environment.
struct FoundCompiler {
  std::string compiler;  ///< "onnxruntime", "openvino", "tensorrt-rtx"
  std::string version;   ///< empty: it is not there, or is a program that says its version when it is opened
  Json about;            ///< {package, path}: which package of the compiler it is, or is missing; of a program its path
  std::string problem;   ///< why it cannot be used, and what to do; empty: it can be tried
};

/// What was found where an environment's command leads.
struct FoundEnvironment {
  Environment environment;
  std::string python;   ///< its version, "3.11.7"
  std::string machine;  ///< the name of the machine and its system
  std::vector<FoundCompiler> compilers;
  std::string problem;  ///< why it cannot be used as a whole; then all else is empty
  Json hello;           ///< all that the listener said: packages, processors, memory (core/probe/PROTOCOL.md)
};

/// Starts the environment's command and asks what is there. No compiler is imported. What is wrong with the environment
/// is no error but its `problem`. Errors: cancelled.
Result<FoundEnvironment> tryEnvironment(const Environment& environment, const StopToken& stop,
                                        const ProbeOptions& options = {});

/// The command that FUSESCOPE_PYTHON holds, the active virtual environment, python3 and python on PATH, then those that
/// the user added. Starts nothing. Where the user's file cannot be read, the others are still found; userEnvironments()
/// says why.
std::vector<Environment> findEnvironments();

// The user's own environments are in $XDG_CONFIG_HOME/fusescope/environments.json (~/.config where that is not set),
// with the commands that the user has confirmed. PROTOCOL.md has the format. Several processes may change it.

Result<std::vector<Environment>> userEnvironments();
/// Adds an environment, or replaces the one of that name, and confirms its command: only for what the user typed or
/// agreed to. Errors: no name, a name of one that is found by itself, a command that cannot be parted into words, a
/// file that cannot be read or written.
Status addEnvironment(const Environment& environment);
/// Errors: there is none of this name among the user's.
Status removeEnvironment(std::string_view name);

/// Whether a command may be started: it was found by Fusescope itself, or the user confirmed exactly this text.
bool isConfirmed(std::string_view command);
/// Notes that the user has confirmed the exact text of a command.
Status confirm(std::string_view command);

}  // namespace fusescope
