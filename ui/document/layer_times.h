#pragma once

#include <vector>

#include "session/run.h"
#include "ui/document/plan_snapshot.h"
#include "ui/document/shown_time.h"

namespace fusescope {

/// Times of timed layers, `measured` of which plan, by handle of fused node: of those that the plan has with the same
/// types. Of what is in bodies, all calls of one run together, by "HOLDER/HANDLE".
ShownTimes layerTimesOf(const std::vector<RunLayer>& layers, const PlanSnapshot& snapshot, TimeKind measured);

}  // namespace fusescope
