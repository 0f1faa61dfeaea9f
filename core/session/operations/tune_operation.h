#pragma once

#include <string>
#include <vector>
#include "session/operations/option.h"
#include "tuning/tune_goal.h"

namespace fusescope {

/// What a search for pins is to reach, and what it keeps.
struct TuneSettings {
  TuneGoal goal;
  std::string of;        ///< the output whose error counts; empty: the worst of all
  std::string metric;    ///< a command that judges outputs; empty: max|Δ| over rms
  std::string state;     ///< where evaluations are kept; empty: nowhere
  bool explain = false;  ///< what each pin is for is found out, as far as the time allows
  std::string output;    ///< the file of directives; empty (of the window): none
  bool operator==(const TuneSettings&) const = default;

  std::vector<Option> options();
};

}  // namespace fusescope
