#pragma once

#include <QString>
#include <vector>

#include "ui/document/plan_snapshot.h"
#include "ui/theme/theme.h"

namespace fusescope {

// What the Inspector says, as HTML. Links: "node:NAME_OR_HANDLE", "remove:DIRECTIVE_ID", "help:INDEX".

QString modelText(const PlanSnapshot& snapshot, const Theme& theme);
/// `help` null: still being worked out.
QString nodeText(const PlanSnapshot& snapshot, NodeId node, const std::vector<WhatIf>* help, const Theme& theme);
QString fusedText(const PlanSnapshot& snapshot, const FusedNode& fused, const Theme& theme);
/// What enters and leaves a segment, and what is converted on the way.
QString segmentText(const PlanSnapshot& snapshot, const Segment& segment, const Theme& theme);
/// The table of its borders alone.
QString bordersText(const PlanSnapshot& snapshot, const Segment& segment, const Theme& theme);
QString severalText(const PlanSnapshot& snapshot, const std::vector<NodeId>& nodes, const Theme& theme);
/// A decision with what it rests on, as a walk.
QString decisionText(const PlanSnapshot& snapshot, std::uint32_t index, const Theme& theme);

}  // namespace fusescope
