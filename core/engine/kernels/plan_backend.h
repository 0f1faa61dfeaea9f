#pragma once

#include <memory>
#include <string_view>

#include "backends/backend.h"

namespace fusescope {

/// Returns the backend of the segment of `fused`, as the plan says. This build must have that backend.
const Backend& backendOf(const Plan& plan, const FusedNode& fused);
/// Returns the backend that runs the accelerated segments of `plan` and converts what they read. This build must have
/// it.
const Backend& acceleratedBackendOf(const Plan& plan);

/// Returns a plan whose accelerated segments, including those in bodies, run on `backend` (empty: the backend of the
/// plan's target). The result is `plan` itself if it says so already, and otherwise a copy. The copy has the hash of
/// `plan`, because it is the same network with the same directives.
std::shared_ptr<const Plan> planRunBy(std::shared_ptr<const Plan> plan, std::string_view backend);

}  // namespace fusescope
