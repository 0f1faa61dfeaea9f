#pragma once

#include "engine/engine.h"

namespace fusescope::cli {

/// Prints the latency for people, and a table of the layers if they were timed.
void printTimes(const TimeReport& report);

}  // namespace fusescope::cli
