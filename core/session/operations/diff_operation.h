#pragma once

#include <string>
#include <vector>
#include "session/operations/option.h"

namespace fusescope {

/// The two sides of a diff, and how it is printed.
struct DiffSettings {
  std::string a, b, planOfA, planOfB;
  std::string errorsOfA, errorsOfB;  ///< files that `errors --json` wrote; empty: none
  bool exitCode = false, all = false;

  std::vector<Option> options();
};

}  // namespace fusescope
