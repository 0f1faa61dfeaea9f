#pragma once

#include <QString>
#include <vector>

#include "ui/document/runs.h"
#include "ui/theme/theme.h"

namespace fusescope {

/// Pins that help against an error, from the plan with these pins.
struct OfferedFix {
  Directives pins;     ///< empty: no pin helps
  std::string effect;  ///< the effect of the pins on the plan, for people
};
/// Returns a link that applies the pins ("do:fix"), and their effect; if no pin helps, a link to a further search
/// ("do:tune"). `fix` is null while it is being computed.
QString fixHtml(const OfferedFix* fix, const Theme& theme);

/// Returns the errors of the fused node of `nodes` in the displayed run: local and carried, whether it is a culprit
/// or a victim, and how they were measured. `remedy` is added for a culprit. The result is empty if nothing is known,
/// or if the nodes are in several fused nodes.
QString errorsHtml(const Runs& runs, const PlanSnapshot& snapshot, const std::vector<NodeId>& nodes,
                   const QString& remedy, const Theme& theme);

}  // namespace fusescope
