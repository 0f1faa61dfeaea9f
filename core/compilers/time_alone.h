#pragma once

#include <map>
#include <string>

#include "engine/engine.h"
#include "probe/resting_jobs.h"

namespace fusescope {

/// Runs Engine::time() while the processes of all other compilers are suspended. The processor time that they used
/// nevertheless is added to TimeReport::remark; if it was enough to disturb the measurement, the report is not quiet.
Result<TimeReport> timeAlone(Engine& engine, const std::map<std::string, Tensor>& inputs, const TimeOptions& options);

/// Adds to `report` how much processor time the processes of other compilers used during the measurement.
void noteOthers(const RestReport& others, TimeReport& report);

}  // namespace fusescope
