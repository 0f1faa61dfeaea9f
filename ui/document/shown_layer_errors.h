#pragma once

#include "session/runs/run_errors.h"
#include "ui/document/plan_snapshot.h"
#include "ui/document/shown_error.h"

namespace fusescope {

/// Returns the errors of a run by handle of fused node, for the fused nodes that the cover has with the same types.
/// Carried errors depend on everything before a node, so that they are valid only if the run is of this plan. In
/// that case `leading` is leadingToOutputs(); otherwise it is null.
ByHandle<ShownError> layerErrorsOf(const RunErrors& errors, const PlanSnapshot& snapshot,
                                   const std::set<std::string>* leading);

}  // namespace fusescope
