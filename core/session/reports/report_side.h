#pragma once

#include <string>

#include "diff/plan_diff.h"
#include "session/artifact.h"
#include "session/runs/run.h"

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

}  // namespace fusescope
