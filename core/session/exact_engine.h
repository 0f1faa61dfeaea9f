#pragma once

#include <memory>

#include "engine/engine.h"
#include "planning/directive.h"

namespace fusescope {

/// Builds exactEngine() with additional directives, such as splits that keep values in memory.
Result<std::unique_ptr<Engine>> exactEngineWith(const Plan& plan, const BuildOptions& options, const Directives& more);

}  // namespace fusescope
