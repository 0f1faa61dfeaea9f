#pragma once

#include <string>
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

}  // namespace fusescope
