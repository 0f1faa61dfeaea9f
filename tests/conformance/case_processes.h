#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/conformance/case_runner.h"

namespace fusescope::conformance {

struct ProcessOptions {
  std::string backend = "reference";
  DataType narrow = DataType::Undefined;  ///< runNarrowCase() in place of runCase()
  int jobs = 2;
  double secondsPerCase = 20;
};

/// Runs the cases in child processes, so that one that crashes or hangs fails alone. By name of the case.
std::map<std::string, Outcome> runCases(const std::vector<Case>& cases, const ProcessOptions& options);

}  // namespace fusescope::conformance
