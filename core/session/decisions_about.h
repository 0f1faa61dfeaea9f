#pragma once

#include <vector>

#include "base/json_fwd.h"
#include "ir/decision.h"

namespace fusescope {

/// Returns those of `decisions` that name one of `subjects`, and all decisions that their evidence refers to. The
/// evidence is renumbered.
Json decisionsAbout(const std::vector<Decision>& decisions, const std::vector<Subject>& subjects);

}  // namespace fusescope
