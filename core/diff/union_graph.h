#pragma once

#include <memory>

#include "diff/plan_levels.h"
#include "diff/union_level.h"

namespace fusescope {

/// Returns the model of a level's union: that of one side if it contains all nodes of both sides, otherwise a new one
/// that can be displayed but not run. Fills nodeOf… and valueOf… of the level.
Result<std::shared_ptr<const Model>> unionModel(const PlanLevel& level, UnionLevel& into);

}  // namespace fusescope
