#pragma once

#include "engine/engine.h"

namespace fusescope::cli {

/// Layers, where they were timed, and latency, for people.
void printTimes(const TimeReport& report);

}  // namespace fusescope::cli
