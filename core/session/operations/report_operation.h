#pragma once

#include <string>
#include <vector>
#include "session/operations/option.h"

namespace fusescope {

/// What a report is about.
struct ReportSettings {
  std::string a, b;  ///< runs of a session by number, or a second file
  std::string planOfA, planOfB;
  std::string output;

  std::vector<Option> options();
};

}  // namespace fusescope
