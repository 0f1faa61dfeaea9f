#pragma once

#include <QString>
#include <vector>

#include "ui/docks/inspector_html.h"
#include "ui/docks/kernel_time_html.h"
#include "ui/docks/selection_answers.h"
#include "ui/document/known_plans.h"
#include "ui/document/plan_snapshot.h"
#include "ui/theme/theme.h"

namespace fusescope {

// The texts of the Inspector, as HTML. Links are "node:NAME_OR_HANDLE", "remove:DIRECTIVE_ID" and "help:INDEX".

/// `target` is targetText() of what is displayed.
QString modelText(const PlanSnapshot& snapshot, const QString& target, const Theme& theme);
/// `answers` is null while it is being computed.
QString nodeText(const PlanSnapshot& snapshot, NodeId node, const ShownKernelTime& time,
                 const SelectionAnswers* answers, const Theme& theme);
QString fusedText(const PlanSnapshot& snapshot, const FusedNode& fused, const ShownKernelTime& time,
                  const SelectionAnswers* answers, const Theme& theme);
/// Returns what another compiler reports about one of its kernels.
QString madeKernelText(const PlanSnapshot& snapshot, const FusedNode& fused, const ShownKernelTime& time,
                       const Theme& theme);
/// Returns what another compiler made of a node; empty for our own plan.
QString madeNodeText(const PlanSnapshot& snapshot, NodeId node, const Theme& theme);
/// Returns what each compiler made of a node, from the runs that contain this, after our own plan; empty if there is
/// none.
QString knownPlansText(const PlanSnapshot& snapshot, NodeId node, const std::vector<KnownPlan>& known,
                       const Theme& theme);
/// Returns how well our plan predicts the displayed kernels, and what is counted; empty for our own plan.
QString agreementText(const PlanSnapshot& snapshot, const Theme& theme);
/// Returns the decisions about a fused node; empty if there are none about a kernel of another compiler.
QString whyFusedText(const PlanSnapshot& snapshot, const FusedNode& fused, const Theme& theme);
/// Adds the row that says in which segment something runs.
void addSegment(Rows& rows, const Cover& cover, const Segment& segment);
/// Returns what is known about a segment; `time` is that of its kernels.
QString segmentText(const PlanSnapshot& snapshot, const Segment& segment, const SegmentTime& time, const Theme& theme);
/// Returns the part of it about why the nodes are in the segment, its time, its inputs and its outputs.
QString segmentFactsText(const PlanSnapshot& snapshot, const Segment& segment, const SegmentTime& time,
                         const Theme& theme);
/// Returns the directives that name one of the nodes, and the answers of the pins among them.
QString pinsText(const PlanSnapshot& snapshot, const std::vector<NodeId>& nodes, const Theme& theme);
QString severalText(const PlanSnapshot& snapshot, const std::vector<NodeId>& nodes, const Theme& theme);

}  // namespace fusescope
