#pragma once

#include "engine/steps/lowering_request.h"

namespace fusescope {

/// Makes a program from a plan: resolves types for the extents, chooses a tactic for each fused node, adds casts and
/// format changes as steps (one for each distinct form of a value), makes views free, and plans memory.
Result<Program> lower(const LoweringRequest& request, TacticChooser& chooser);

}  // namespace fusescope
