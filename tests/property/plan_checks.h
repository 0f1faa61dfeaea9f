#pragma once

#include <string>

#include "planning/plan.h"

namespace fusescope::property {

/// Two runs give equal plans, also with a previous plan of the same model at hand; what is printed reads back the same.
std::string checkRepeats(const Plan& plan, const PlanOptions& options, const Plan* other);
/// What each decision says that a pin costs is what planning without it saves; likewise all pins together.
/// `counted` grows by the directives looked at.
std::string checkCosts(const Plan& plan, std::size_t& counted);

}  // namespace fusescope::property
