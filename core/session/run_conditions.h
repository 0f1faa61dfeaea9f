#pragma once

#include <string>
#include <vector>

#include "session/run.h"

namespace fusescope {

/// What two runs were not timed alike in, for people: "machine", "threads: 2 and 4", "inputs". Their times say nothing
/// of which is faster then. Empty: they were timed alike, or one has no time. Pure.
std::vector<std::string> unlikeConditions(const Run& a, const Run& b);

}  // namespace fusescope
