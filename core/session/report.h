#pragma once

#include <string>

#include "base/json.h"
#include "diff/plan_diff.h"
#include "session/run.h"

namespace fusescope {

/// What a report tells of: a plan, ours or read back, and the run that was made of it.
struct ReportSide {
  std::string title;         ///< for people: "run 3, 2 pins", or the file
  std::string model;         ///< path of the file that was opened
  DiffInput known;           ///< the cover, which outlives the report, and times of its kernels
  const Run* run = nullptr;  ///< null: nothing was run; else outlives the report
  RunSettings settings;      ///< by whose tolerance the run is judged
  std::string backend;       ///< of a plan that was not run; empty: not known
};

/// The side of an artifact: `run` is of its plan, or null. Of a session whose newest run is of its plan, and of an
/// engine file, times are known without one. Both must outlive the report.
ReportSide reportSide(const Artifact& artifact, const Run* run = nullptr);

// A report is a value: REPORT_FORMAT.md. Pure, but for `when`: timestamp() of now.

/// Of one plan or run: what, when and where; verdict, totals, kernels by time, precisions, directives with their
/// answers, what was refused, conversions.
Json reportJson(const ReportSide& side, const std::string& when);
/// Of the difference `diff` of two: both sides without their kernels, and groups of kernels with their times and
/// causes.
Json reportJson(const ReportSide& a, const ReportSide& b, const PlanDiff& diff, const std::string& when);

}  // namespace fusescope
