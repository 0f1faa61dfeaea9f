#pragma once

#include <optional>

#include "session/advice.h"

namespace fusescope::cli {

/// Prints which nodes to pin if the network's results are wrong, as options of the command line, and what these pins
/// achieve.
void printAdvice(const std::optional<Advice>& advice);

}  // namespace fusescope::cli
