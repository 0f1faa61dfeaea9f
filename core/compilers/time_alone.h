#pragma once

#include <map>
#include <string>

#include "engine/engine.h"
#include "probe/resting_jobs.h"

namespace fusescope {

/// Engine::time() while the processes of all other compilers are suspended. The processor time that they used all the
/// same is said in TimeReport::remark; if it was enough to disturb the measurement, the report is not quiet.
Result<TimeReport> timeAlone(Engine& engine, const std::map<std::string, Tensor>& inputs, const TimeOptions& options);

/// Adds to `report` what the processes of other compilers used of the processors while it was measured.
void noteOthers(const RestReport& others, TimeReport& report);

}  // namespace fusescope
