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

// The texts of the Inspector, as HTML. Links are "node:NAME_OR_HANDLE", "remove:DIRECTIVE_ID" and "help:INDEX".

/// `target` is targetText() of what is displayed.
QString modelText(const PlanSnapshot& snapshot, const QString& target, const Theme& theme);
/// The share of one kernel in the time of all kernels of the network in its run.
struct TimeShare {
  double part = 0;  ///< 0 … 1
  int slower = 0;   ///< number of kernels that take longer
  int of = 0;       ///< number of kernels with a time
};
/// Facts about the selection that take long to compute.
struct WorkedOut {
  std::vector<WhatIf> help{};  ///< for a single node
  std::vector<LostWeight> lostWeights{};
  bool wrong = false;                ///< it is wrong by itself
  OfferedFix fix{};                  ///< a fix for that
  std::string wrongBefore{};         ///< if only its inputs are wrong: the value that is wrong first
  std::optional<TimeShare> share{};  ///< of the kernel, if the displayed run measured it
};
/// `workedOut` is null while it is being computed.
QString nodeText(const PlanSnapshot& snapshot, NodeId node, const ShownKernelTime& time, const WorkedOut* workedOut,
                 const Theme& theme);
QString fusedText(const PlanSnapshot& snapshot, const FusedNode& fused, const ShownKernelTime& time,
                  const WorkedOut* workedOut, const Theme& theme);
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
void addSegment(Rows& rows, const Segment& segment);
/// Returns the inputs and outputs of a segment, and the conversions of them.
QString segmentText(const PlanSnapshot& snapshot, const Segment& segment, const Theme& theme);
/// Returns only the table of its inputs and outputs.
QString bordersText(const PlanSnapshot& snapshot, const Segment& segment, const Theme& theme);
/// Returns the directives that name one of the nodes, and the answers of the pins among them.
QString pinsText(const PlanSnapshot& snapshot, const std::vector<NodeId>& nodes, const Theme& theme);
QString severalText(const PlanSnapshot& snapshot, const std::vector<NodeId>& nodes, const Theme& theme);
/// Returns a decision with the chain of evidence that it is based on.
QString decisionText(const PlanSnapshot& snapshot, std::uint32_t index, const Theme& theme);

}  // namespace fusescope
