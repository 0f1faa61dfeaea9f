#pragma once

#include "ui/document/runs.h"
#include "ui/models/table_model.h"

namespace fusescope {

// Tables of runs, as values.

/// Returns every run, the latest first: whether it is displayed, name, verdict, time, directives, when.
TableContent runsContent(const Runs& runs);
/// Returns the layers of a run, the slowest first, with a bar for the share of the total; they are dimmed if
/// `ofOtherPlan`. Layers in bodies, with the time of all calls, are separate rows after their holder, whose parts they
/// are.
TableContent profileContent(const Run& run, bool ofOtherPlan);

}  // namespace fusescope
