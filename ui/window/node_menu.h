#pragma once

#include <QMenu>

#include "ui/docks/dock_context.h"

namespace fusescope {

/// Adds the actions for the selected nodes. Those that are impossible are greyed out, with the reason as tool tip.
void fillNodeMenu(QMenu& menu, const DockContext& context, const std::vector<NodeId>& nodes);

}  // namespace fusescope
