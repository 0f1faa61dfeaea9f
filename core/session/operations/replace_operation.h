#pragma once

#include <string>
#include <vector>
#include "session/operations/option.h"

namespace fusescope {

/// What is replaced in a network.
struct ReplaceSettings {
  std::vector<std::string> rules;  ///< RULE, RULE@NODES or RULE@VALUE
  bool list = false;
  std::string output;
  double rms = 1e-4;
  double seconds = 0;  ///< for which both networks are timed; 0: they are not

  std::vector<Option> options();
};

}  // namespace fusescope
