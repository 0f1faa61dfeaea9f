#pragma once

#include <memory>

#include "diff/plan_levels.h"
#include "diff/union_cover.h"

namespace fusescope {

/// The model of a level's union: that of a side where it holds all nodes of both, else one of its own that is made to
/// be looked at, not run. Fills the level's nodeOf… and valueOf….
Result<std::shared_ptr<const Model>> unionModel(const PlanLevel& level, UnionLevel& into);

}  // namespace fusescope
