#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/stop.h"
#include "probe/environment.h"
#include "probe/probe_options.h"

namespace fusescope {

/// A compiler that the probe supports, and whether an environment has it.
struct FoundCompiler {
  std::string compiler;  ///< "onnxruntime", "openvino", "tensorrt-rtx"
  std::string version;   ///< empty: it is missing, or it is a program that reports its version only when it is opened
  Json about;            ///< {package, path}: the package of the compiler that was found or is missing; for a program
                         ///< only its path
  std::string problem;   ///< why it cannot be used, and what to do; empty: it can be tried
};

/// What was found in an environment.
struct FoundEnvironment {
  Environment environment;
  std::string python;   ///< the version of Python, "3.11.7"
  std::string machine;  ///< the name of the machine and its system
  std::vector<FoundCompiler> compilers;
  std::string problem;  ///< why the whole environment cannot be used; everything else is then empty
  Json hello;           ///< the listener's whole answer: packages, processors, memory (core/probe/PROTOCOL.md)
};

/// Starts the environment's command and asks what is there. No compiler is imported. A problem of the environment is
/// reported in `problem` and is not an error. Errors: cancelled.
Result<FoundEnvironment> tryEnvironment(const Environment& environment, const StopToken& stop,
                                        const ProbeOptions& options = {});

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
