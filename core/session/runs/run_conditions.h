#pragma once

#include <string>
#include <vector>

#include "session/runs/run.h"

namespace fusescope {

/// Returns the conditions in which the timings of two runs differ, for people: "machine", "threads: 2 and 4", "inputs".
/// If there are any, the times do not show which run is faster. Empty: they were timed under the same conditions, or
/// one has no time. It is a pure function.
std::vector<std::string> unlikeConditions(const Run& a, const Run& b);

}  // namespace fusescope
