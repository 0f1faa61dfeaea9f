#pragma once

#include <QString>
#include <vector>

#include "ui/document/runs.h"
#include "ui/theme/theme.h"

namespace fusescope {

/// What the shown run's errors say of the fused node that these nodes are of: local and carried, culprit or victim, and
/// what they were made with. Empty where nothing is known, or the nodes are of several.
QString errorsHtml(const Runs& runs, const PlanSnapshot& snapshot, const std::vector<NodeId>& nodes,
                   const Theme& theme);

}  // namespace fusescope
