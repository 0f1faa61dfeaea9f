#pragma once

#include <QString>
#include <vector>

#include "ui/document/plan_snapshot.h"
#include "ui/theme/theme.h"

namespace fusescope {

// What the Inspector says, as HTML. Links: "node:NAME", "remove:DIRECTIVE_ID", "help:INDEX".

QString modelText(const PlanSnapshot& snapshot, const Theme& theme);
/// `help` null: still being worked out.
QString nodeText(const PlanSnapshot& snapshot, NodeId node, const std::vector<WhatIf>* help, const Theme& theme);
QString fusedText(const PlanSnapshot& snapshot, const FusedNode& fused, const Theme& theme);
QString severalText(const PlanSnapshot& snapshot, const std::vector<NodeId>& nodes, const Theme& theme);
/// A decision with what it rests on, as a walk.
QString decisionText(const PlanSnapshot& snapshot, std::uint32_t index, const Theme& theme);
QString nodeLink(const std::string& name);

}  // namespace fusescope
