#pragma once

#include "session/reports/report_side.h"

namespace fusescope {

/// Returns {same, options[…], network{…}, groups[…], changes[…]}; see REPORT_FORMAT.md.
Json differenceJson(const ReportSide& a, const ReportSide& b, const PlanDiff& diff);

}  // namespace fusescope
