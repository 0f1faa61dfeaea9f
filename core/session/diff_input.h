#pragma once

#include "diff/plan_diff.h"
#include "session/session.h"

namespace fusescope {

/// What a diff knows of an artifact besides its plan: of an engine file what its kernels took when it was built; of a
/// session the times and errors of its newest run of this very plan. The artifact must outlive it.
DiffInput diffInput(const Artifact& artifact);

}  // namespace fusescope
