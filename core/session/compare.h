#pragma once

#include <vector>

#include "base/stop.h"
#include "engine/engine.h"
#include "session/documents/compare_report.h"

namespace fusescope {

struct Samples;

/// Makes the groups without running anything. It is a pure function. The times of a node include those of its bodies.
std::vector<CompareGroup> compareGroups(const Cover& a, const Cover& b);

/// Runs both engines on the same samples and compares their results; the worst of several samples is reported. Then
/// times them in turns on the first sample, unless `seconds` is 0. The groups are those of Engine::made().
Result<CompareReport> compareEngines(Engine& a, Engine& b, const Samples& samples, double seconds,
                                     const StopToken& stop = {}, const Progress& progress = {});

}  // namespace fusescope
