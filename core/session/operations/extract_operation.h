#pragma once

#include <string>
#include <vector>
#include "session/operations/option.h"
#include "session/part_choice.h"

namespace fusescope {

/// The part that is written, or what is searched for.
struct ExtractSettings {
  std::string output;
  PartSelection selection;
  std::string minimal;  ///< what the smallest part must still show; empty: the part is as named
  std::string against;  ///< another compiler that does not show it; empty: none
  double rms = 1e-2;
  double seconds = 0;       ///< of the search; 0: no limit
  std::int64_t trials = 0;  ///< likewise

  std::vector<Option> options();
};

}  // namespace fusescope
