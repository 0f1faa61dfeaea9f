#pragma once

#include <map>
#include <string>

#include "engine/engine.h"
#include "probe/resting_jobs.h"

namespace fusescope {

/// Engine::time() of an engine, while the processes of compilers that do not take part in it rest. What those used of
/// the processors all the same is said in TimeReport::remark; where that may have disturbed, the report is not quiet.
Result<TimeReport> timeAlone(Engine& engine, const std::map<std::string, Tensor>& inputs, const TimeOptions& options);

/// Notes in `report` what others did while it was measured.
void noteOthers(const RestReport& others, TimeReport& report);

}  // namespace fusescope
