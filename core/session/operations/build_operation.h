#pragma once

#include <optional>
#include <string>
#include <vector>
#include "session/operations/option.h"

namespace fusescope {

/// How an engine is made, and where it is written.
struct BuildSettings {
  std::string output;           ///< the engine file; empty (of the window): the engine is only kept in the worker
  bool measuresTactics = true;  ///< false: each kernel uses its first tactic
  /// Files of directives: with each of them in turn the network is built once more, in the same process.
  std::vector<std::string> then;

  std::optional<double> effort;  ///< the most seconds for measuring; see BuildOptions::effortSeconds

  std::vector<Option> options();
};

}  // namespace fusescope
