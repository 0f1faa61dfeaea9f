#pragma once

#include <QMenu>

#include "ui/docks/dock_context.h"

namespace fusescope {

/// What can be done to the selected nodes. What cannot is greyed, with the reason as its tooltip.
void fillNodeMenu(QMenu& menu, const DockContext& context, const std::vector<NodeId>& nodes);

}  // namespace fusescope
