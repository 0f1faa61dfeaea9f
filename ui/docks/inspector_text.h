#pragma once

#include <QString>
#include <vector>

#include "ui/docks/error_html.h"
#include "ui/docks/kernel_time_html.h"
#include "ui/document/plan_snapshot.h"
#include "ui/theme/theme.h"
#include "verify/lost_weights.h"

namespace fusescope {

// What the Inspector says, as HTML. Links: "node:NAME_OR_HANDLE", "remove:DIRECTIVE_ID", "help:INDEX".

QString modelText(const PlanSnapshot& snapshot, const Theme& theme);
/// What takes its time to work out about what is selected.
struct WorkedOut {
  std::vector<WhatIf> help;  ///< of one node
  std::vector<LostWeight> lostWeights;
  OfferedFix fix;  ///< where something goes wrong: of that
};
/// `workedOut` null: still being worked out.
QString nodeText(const PlanSnapshot& snapshot, NodeId node, const KernelTime& time, const WorkedOut* workedOut,
                 const Theme& theme);
QString fusedText(const PlanSnapshot& snapshot, const FusedNode& fused, const KernelTime& time,
                  const WorkedOut* workedOut, const Theme& theme);
/// What enters and leaves a segment, and what is converted on the way.
QString segmentText(const PlanSnapshot& snapshot, const Segment& segment, const Theme& theme);
/// The table of its borders alone.
QString bordersText(const PlanSnapshot& snapshot, const Segment& segment, const Theme& theme);
/// The directives that name one of the nodes, and what the pins among them came to.
QString pinsText(const PlanSnapshot& snapshot, const std::vector<NodeId>& nodes, const Theme& theme);
QString severalText(const PlanSnapshot& snapshot, const std::vector<NodeId>& nodes, const Theme& theme);
/// A decision with what it rests on, as a walk.
QString decisionText(const PlanSnapshot& snapshot, std::uint32_t index, const Theme& theme);

}  // namespace fusescope
