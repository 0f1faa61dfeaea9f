#pragma once

#include <string>
#include <vector>

#include "planning/plan.h"

namespace fusescope {

/// wouldHelp() for a node of a body's plan. `prefix`: "HOLDER/", of all holders on the way, by which directives of the
/// network's plan name what is in the body; empty: `body` is the network's plan.
std::vector<WhatIf> wouldHelpInBody(const Plan& body, NodeId node, const std::string& prefix);

}  // namespace fusescope
