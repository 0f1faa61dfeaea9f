#pragma once

#include "session/run_errors.h"
#include "ui/document/plan_snapshot.h"
#include "ui/document/shown_error.h"

namespace fusescope {

/// Errors of a run by handle of fused node, of those that the cover has with the same types. What is carried depends on
/// all that comes before: only where the run is of this plan it is this one's.
/// Of this one, `leading` are leadingToOutputs(); null: of another.
ByHandle<ShownError> layerErrorsOf(const RunErrors& errors, const PlanSnapshot& snapshot,
                                   const std::set<std::string>* leading);

}  // namespace fusescope
