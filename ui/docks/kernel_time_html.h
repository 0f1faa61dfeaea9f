#pragma once

#include <QString>

#include "planning/plan.h"
#include "ui/docks/inspector_html.h"
#include "ui/document/shown_time.h"

namespace fusescope {

/// The displayed run's time of the kernel that is selected, or that runs the selected node.
struct ShownKernelTime {
  ShownTime time;
  QString made;  ///< the title of the run
  bool measured() const { return time.kind == TimeKind::Measured || time.kind == TimeKind::OfOtherPlan; }
};

/// Adds rows with the time that the displayed run measured (`label`), the run and the tactic; otherwise with the time
/// that the compiler reported or that is predicted. Adds none if nothing is known.
void addTime(Rows& rows, const FusedNode& fused, const ShownKernelTime& known, const QString& label,
             const Theme& theme);

}  // namespace fusescope
