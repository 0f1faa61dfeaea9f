#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "compilers/compiler.h"
#include "probe/environments.h"

namespace fusescope {

/// A compiler in an environment, and what it said when it was opened there.
struct AskedCompiler {
  const Compiler* compiler = nullptr;  ///< as NAME@ENVIRONMENT
  std::string name, title, version;
  Json devices = Json::array();  ///< in its own words
  std::string problem;           ///< why it cannot be used, and what to do; empty: it can
  bool isFirst = false;          ///< NAME alone means this one
};

/// An environment with what its compilers can do.
struct AskedEnvironment {
  FoundEnvironment found;
  std::vector<AskedCompiler> compilers;  ///< of all kinds, in their order; none where the environment has a problem
};

/// Opens every compiler that is in the environment, one after another, and ends what it started. Blocks for as long as
/// they take to be imported. Errors: cancelled.
Result<AskedEnvironment> askEnvironment(const Environment& environment, const StopToken& stop);

/// {name, command, python, machine, problem, compilers[{name, compiler, version, devices[], can[…], …, problem}]}.
Json toJson(const AskedEnvironment& environment);

}  // namespace fusescope
