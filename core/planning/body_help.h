#pragma once

#include <vector>

#include "ir/place.h"
#include "planning/plan.h"

namespace fusescope {

/// Does what wouldHelp() does for a node in a body: `body` is the plan of the body at `path`, and the suggested
/// directives are for the plan of the whole network.
std::vector<WhatIf> wouldHelpInBody(const Plan& body, NodeId node, const BodyPath& path);

}  // namespace fusescope
