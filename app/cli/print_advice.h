#pragma once

#include <optional>

#include "session/advice.h"

namespace fusescope::cli {

/// What to pin about where a network goes wrong, as options of the command line, and what that does.
void printAdvice(const std::optional<Advice>& advice);

}  // namespace fusescope::cli
