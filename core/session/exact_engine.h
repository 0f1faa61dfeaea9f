#pragma once

#include <memory>

#include "engine/engine.h"
#include "planning/directive.h"

namespace fusescope {

/// Builds the network of `plan` in float32 on our own engine.
Result<std::unique_ptr<Engine>> exactEngine(const Plan& plan, const BuildOptions& options);
/// Does the same with additional directives, such as splits that keep values in memory.
Result<std::unique_ptr<Engine>> exactEngineWith(const Plan& plan, const BuildOptions& options, const Directives& more);

}  // namespace fusescope
