#pragma once

#include <string>
#include <vector>
#include "session/operations/option.h"

namespace fusescope {

/// What `plan` lists and writes.
struct PlanCommandSettings {
  std::string output;  ///< where the plan's JSON is written; empty: nowhere
  bool original = false;

  std::vector<Option> options();
};

}  // namespace fusescope
