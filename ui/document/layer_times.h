#pragma once

#include <map>
#include <string>

#include "ui/document/plan_snapshot.h"

namespace fusescope {

/// Milliseconds of a `time --per-layer` report by handle of fused node, of those that the plan has with the same types;
/// of what is in bodies, all calls of one run together, by "HOLDER/HANDLE".
std::map<std::string, double> layerTimesOf(const Json& time, const PlanSnapshot& snapshot);

}  // namespace fusescope
