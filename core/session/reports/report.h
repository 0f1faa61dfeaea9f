#pragma once

#include <string>

#include "base/json_fwd.h"
#include "diff/plan_diff.h"
#include "session/reports/report_side.h"

namespace fusescope {

// A report is a value; REPORT_FORMAT.md describes it. These functions are pure; `when` is the current timestamp().

/// Returns the report on one plan or run: what, when and where; verdict, totals, kernels by time, precisions,
/// directives with their answers, refusals, conversions.
Json reportJson(const ReportSide& side, const std::string& when);
/// Returns the report on the difference `diff` of two sides: both sides without their kernels, and groups of kernels
/// with their times and causes.
Json reportJson(const ReportSide& a, const ReportSide& b, const PlanDiff& diff, const std::string& when);

}  // namespace fusescope
