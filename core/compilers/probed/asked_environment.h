#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "compilers/compiler.h"
#include "probe/found_environment.h"

namespace fusescope {

/// A compiler in an environment, and its answers when it was opened there.
struct AskedCompiler {
  const Compiler* compiler = nullptr;  ///< the compiler NAME@ENVIRONMENT
  std::string name, title, version;
  Json devices = Json::array();  ///< in its own words
  std::string problem;           ///< why it cannot be used, and what to do; empty: it can be used
  bool isFirst = false;          ///< NAME alone selects this one
};

/// An environment and its compilers.
struct AskedEnvironment {
  FoundEnvironment found;
  std::vector<AskedCompiler> compilers;  ///< all kinds in their order; empty if the environment has a problem
};

/// Opens every compiler in the environment, one after another, and ends what it started. It blocks while they are
/// imported, and `progress` says so if that takes long. Errors: cancelled.
Result<AskedEnvironment> askEnvironment(const Environment& environment, const StopToken& stop,
                                        const Progress& progress = {});

/// Returns {name, command, memory_bytes, keeps_files, python, machine, problem, compilers[{name, compiler, version,
/// devices[], can[…], …, problem}]}.
Json toJson(const AskedEnvironment& environment);

}  // namespace fusescope
