#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/phase_clock.h"
#include "engine/engine.h"
#include "engine/tactics/machine_peaks.h"

namespace fusescope {

/// `phases` are those of the whole build, from the file to the engine.
Json toJson(const BuildReport& report, const std::vector<BuildPhase>& phases, const std::string& enginePath,
            std::int64_t bytes);

/// Runs Engine::time() and adds the shortest possible time of each layer at the measured peaks of this machine, if they
/// were measured (measurePeaks()).
Result<TimeReport> timeEngine(Engine& engine, const std::map<std::string, Tensor>& inputs, const TimeOptions& options);

Json toJson(const TimeReport& report);

/// Returns the JSON of `inspect --machine`: which types run on this machine, and how fast.
Json machineJson(const MachinePeaks& peaks);

}  // namespace fusescope
