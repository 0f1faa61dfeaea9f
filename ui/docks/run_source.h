#pragma once

#include <memory>
#include <optional>

#include "session/report.h"
#include "ui/docks/dock_context.h"

namespace fusescope {

/// What a run, or the plan on screen, is made of, as values: its plan is made of them off the GUI thread.
struct RunSource {
  std::optional<Run> run;              ///< none: the plan on screen, which was not run
  std::shared_ptr<const Cover> cover;  ///< of the run, where it is the one on screen; null: Runs::plans() has it
  std::shared_ptr<RunPlans> plans;
  OpenNetwork network;
  RunSettings settings;

  /// The artifact whose cover the run is of. Any thread. Errors: it was made of another model than the one that is
  /// open, or cannot be planned any more.
  Result<std::shared_ptr<const Artifact>> artifact(const StopToken& stop) const;
  /// `artifact`, which must outlive it, with what the run knows.
  ReportSide side(const Artifact& artifact) const;
};

/// GUI thread. There must be a plan on screen. `run`: null for that plan alone.
RunSource runSource(const DockContext& context, const Run* run);

}  // namespace fusescope
