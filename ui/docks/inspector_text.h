#pragma once

#include <QString>
#include <vector>

#include "ui/docks/error_html.h"
#include "ui/docks/inspector_html.h"
#include "ui/docks/kernel_time_html.h"
#include "ui/document/known_plans.h"
#include "ui/document/plan_snapshot.h"
#include "ui/theme/theme.h"
#include "verify/lost_weights.h"

namespace fusescope {

// What the Inspector says, as HTML. Links: "node:NAME_OR_HANDLE", "remove:DIRECTIVE_ID", "help:INDEX".

/// `target`: targetText() of what is shown.
QString modelText(const PlanSnapshot& snapshot, const QString& target, const Theme& theme);
/// What part of its run's time in kernels of the network one of them takes.
struct TimeShare {
  double part = 0;  ///< 0 … 1
  int slower = 0;   ///< so many kernels take longer
  int of = 0;       ///< kernels that have a time
};
/// What takes its time to work out about what is selected.
struct WorkedOut {
  std::vector<WhatIf> help{};  ///< of one node
  std::vector<LostWeight> lostWeights{};
  bool wrong = false;         ///< it goes wrong by itself
  OfferedFix fix{};           ///< of that
  std::string wrongBefore{};  ///< of what goes wrong with what it is given alone: the value that goes wrong first
  std::optional<TimeShare> share{};  ///< of the kernel, where the shown run measured it
};
/// `workedOut` null: still being worked out.
QString nodeText(const PlanSnapshot& snapshot, NodeId node, const ShownKernelTime& time, const WorkedOut* workedOut,
                 const Theme& theme);
QString fusedText(const PlanSnapshot& snapshot, const FusedNode& fused, const ShownKernelTime& time,
                  const WorkedOut* workedOut, const Theme& theme);
/// Of a kernel that another compiler made: what it tells of it.
QString madeKernelText(const PlanSnapshot& snapshot, const FusedNode& fused, const ShownKernelTime& time,
                       const Theme& theme);
/// What another compiler made of a node; empty of our own plan.
QString madeNodeText(const PlanSnapshot& snapshot, NodeId node, const Theme& theme);
/// What each compiler made of a node, by the runs that tell it, and our own plan before them; empty where none tells
/// it.
QString knownPlansText(const PlanSnapshot& snapshot, NodeId node, const std::vector<KnownPlan>& known,
                       const Theme& theme);
/// How well our plan predicts the kernels on screen, with what is counted; empty of a plan of ours.
QString agreementText(const PlanSnapshot& snapshot, const Theme& theme);
/// The decisions about a fused node; of another compiler's kernel nothing where there are none.
QString whyFusedText(const PlanSnapshot& snapshot, const FusedNode& fused, const Theme& theme);
/// The row that says which segment something runs in.
void addSegment(Rows& rows, const Segment& segment);
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
