#pragma once

#include <vector>

#include "ir/place.h"
#include "planning/plan.h"

namespace fusescope {

/// wouldHelp() for a node of the plan of the body at `path`, with directives of the network's plan.
std::vector<WhatIf> wouldHelpInBody(const Plan& body, NodeId node, const BodyPath& path);

}  // namespace fusescope
