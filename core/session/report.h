#pragma once

#include <string>

#include "base/json_fwd.h"
#include "diff/plan_diff.h"
#include "session/run.h"

namespace fusescope {

/// The subject of a report: a plan or read-back plan, and a run of it.
struct ReportSide {
  std::string title;         ///< for people: "run 3, 2 pins", or the name of the file
  std::string model;         ///< path of the file that was opened
  DiffInput known;           ///< the cover, which must outlive the report, and the times of its kernels
  const Run* run = nullptr;  ///< null: nothing was run; otherwise it must outlive the report
  RunSettings settings;      ///< the settings with whose tolerance the run is judged
  std::string backend;       ///< for a plan that was not run; empty: unknown
};

/// Returns the side for an artifact. `run` is a run of its plan, or null. Without a run, times are known for an engine
/// file, and for a session whose latest run is of its plan. Both must outlive the report.
ReportSide reportSide(const Artifact& artifact, const Run* run = nullptr);

// A report is a value; REPORT_FORMAT.md describes it. These functions are pure; `when` is the current timestamp().

/// Returns the report on one plan or run: what, when and where; verdict, totals, kernels by time, precisions,
/// directives with their answers, refusals, conversions.
Json reportJson(const ReportSide& side, const std::string& when);
/// Returns the report on the difference `diff` of two sides: both sides without their kernels, and groups of kernels
/// with their times and causes.
Json reportJson(const ReportSide& a, const ReportSide& b, const PlanDiff& diff, const std::string& when);

}  // namespace fusescope
