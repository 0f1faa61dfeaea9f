#pragma once

#include <memory>

#include "engine/engine.h"
#include "planning/directive.h"

namespace fusescope {

/// exactEngine() with directives besides, such as splits that leave values in memory.
Result<std::unique_ptr<Engine>> exactEngineWith(const Plan& plan, const BuildOptions& options, const Directives& more);

}  // namespace fusescope
