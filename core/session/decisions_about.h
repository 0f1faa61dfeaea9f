#pragma once

#include <vector>

#include "base/json_fwd.h"
#include "ir/decision.h"
#include "planning/cover.h"

namespace fusescope {

/// Returns those of `decisions` that name one of `subjects`, and all decisions that their evidence refers to. The
/// evidence is renumbered.
Json decisionsAbout(const std::vector<Decision>& decisions, const std::vector<Subject>& subjects);

/// Returns whether the decision says that floats are not calculated in a type that the user asked for, because the
/// target does not have it or the compiler chose another one.
bool isTypeNotGiven(const Decision& decision);
/// Returns these decisions of `cover`, each once.
std::vector<Decision> typesNotGiven(const Cover& cover);

}  // namespace fusescope
