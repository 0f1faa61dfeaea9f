#pragma once

#include "session/runs/run.h"
#include "ui/document/plan_snapshot.h"
#include "ui/document/shown_time.h"

namespace fusescope {

/// Returns the times of a run by handle of fused node, for the fused nodes that the cover has with the same types. For
/// nodes in bodies it is the time of all calls in one inference, by "HOLDER/HANDLE". `measured` is the kind of time
/// that measured ones are for this plan.
ShownTimes layerTimesOf(const RunTime& time, const PlanSnapshot& snapshot, TimeKind measured);

}  // namespace fusescope
