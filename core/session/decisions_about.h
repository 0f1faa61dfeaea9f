#pragma once

#include <vector>

#include "base/json.h"
#include "ir/decision.h"

namespace fusescope {

/// Those of `decisions` that name one of `subjects`, with everything that their evidence points at; evidence is
/// renumbered to match.
Json decisionsAbout(const std::vector<Decision>& decisions, const std::vector<Subject>& subjects);

}  // namespace fusescope
