#pragma once

#include "session/run.h"
#include "ui/document/plan_snapshot.h"
#include "ui/document/shown_time.h"

namespace fusescope {

/// Times of a run by handle of fused node, of those that the cover has with the same types; of what is in bodies, all
/// calls of one inference together, by "HOLDER/HANDLE". `measured`: what those that were measured are of this plan.
ShownTimes layerTimesOf(const RunTime& time, const PlanSnapshot& snapshot, TimeKind measured);

}  // namespace fusescope
