#pragma once

#include <optional>
#include <string>
#include <vector>
#include "session/operations/option.h"

namespace fusescope {

/// What is compared, and for how long.
struct CompareSettings {
  std::string a;
  std::vector<std::string> others;  ///< B; of a session, more runs
  double seconds = 4.0;             ///< 0: only values are compared
  std::string planOfA, planOfB;
  bool blocks = false;
  std::optional<double> effort;  ///< as of BuildSettings

  std::vector<Option> options();
};

}  // namespace fusescope
