#pragma once

#include <memory>
#include <string_view>

#include "backends/backend.h"

namespace fusescope {

/// What runs a fused node by a kernel of its own, as the plan says: the backend of its segment, which is in this build.
const Backend& backendOf(const Plan& plan, const FusedNode& fused);
/// What runs accelerated segments of `plan`, and converts what they read: likewise.
const Backend& acceleratedBackendOf(const Plan& plan);

/// `plan` as it is where `backend` (empty: that of its target) runs its accelerated segments, bodies included: itself if
/// it says so already, else a copy, as of a plan for another compiler. That has the hash of `plan`: it is the same
/// network with the same wishes.
std::shared_ptr<const Plan> planRunBy(std::shared_ptr<const Plan> plan, std::string_view backend);

}  // namespace fusescope
