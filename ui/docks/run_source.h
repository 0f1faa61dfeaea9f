#pragma once

#include <memory>
#include <optional>

#include "session/reports/report.h"
#include "ui/docks/dock_context.h"

namespace fusescope {

/// What a run, or the displayed plan, is made from, as values, so that its plan can be made off the GUI thread.
struct RunSource {
  std::optional<Run> run;              ///< nothing: the displayed plan, which was not run
  std::shared_ptr<const Cover> cover;  ///< of the run, if it is the displayed one; null: Runs::plans() has it
  std::shared_ptr<RunPlans> plans;
  OpenNetwork network;
  RunSettings settings;

  /// Returns the artifact with the cover of the run. May run on any thread. Errors: it was made from another model than
  /// the open one, or cannot be planned any more.
  Result<std::shared_ptr<const Artifact>> artifact(const StopToken& stop) const;
  /// Returns `artifact`, which must outlive the result, with the times and errors of the run.
  ReportSide side(const Artifact& artifact) const;
};

/// Returns the source. There must be a displayed plan. `run` is null for only that plan. GUI thread only.
RunSource runSource(const DockContext& context, const Run* run);

}  // namespace fusescope
