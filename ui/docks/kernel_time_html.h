#pragma once

#include <QString>

#include "planning/plan.h"
#include "ui/docks/inspector_html.h"
#include "ui/document/shown_time.h"

namespace fusescope {

/// What the shown run says of the kernel that is selected or that runs what is.
struct ShownKernelTime {
  ShownTime time;
  QString made;  ///< the run
  bool measured() const { return time.kind == TimeKind::Measured || time.kind == TimeKind::OfOtherPlan; }
};

/// Rows of what the shown run measured (`label`), in which run and by which tactic; else of what its compiler told or
/// what is predicted. None where nothing is known.
void addTime(Rows& rows, const FusedNode& fused, const ShownKernelTime& known, const QString& label,
             const Theme& theme);

}  // namespace fusescope
