#pragma once

#include <optional>
#include <string>
#include <vector>
#include "session/operations/option.h"

namespace fusescope {

/// What is done with the outputs of a network.
struct RunCommandSettings {
  std::string outputs;  ///< where outputs are written; empty: nowhere
  std::string expect;   ///< what they are compared with; empty: nothing
  std::optional<double> rms, absolute, relative;
  std::vector<std::string> mark;  ///< inner values that are kept

  std::vector<Option> options();
};

}  // namespace fusescope
