#pragma once

#include <QString>
#include <vector>

#include "ui/document/runs.h"
#include "ui/theme/theme.h"

namespace fusescope {

/// Pins that do something about what goes wrong, as the plan with them says.
struct OfferedFix {
  Directives pins;     ///< empty: no pin does
  std::string effect;  ///< of them on the plan, for people
};
/// A link that pins ("do:fix"), and what that does; where no pin does anything, where to look further ("do:tune").
/// `fix` null: still being worked out.
QString fixHtml(const OfferedFix* fix, const Theme& theme);

/// What the shown run's errors say of the fused node that these nodes are of: local and carried, culprit or victim, and
/// what they were made with. `remedy` stands below a culprit. Empty where nothing is known, or the nodes are of
/// several.
QString errorsHtml(const Runs& runs, const PlanSnapshot& snapshot, const std::vector<NodeId>& nodes,
                   const QString& remedy, const Theme& theme);

}  // namespace fusescope
