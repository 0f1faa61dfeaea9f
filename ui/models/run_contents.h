#pragma once

#include "ui/document/runs.h"
#include "ui/models/table_model.h"

namespace fusescope {

// Tables of runs as values.

/// Every run, the newest first: which are shown, name, verdict, time, directives, when.
TableContent runsContent(const Runs& runs);
/// Layers of a run, slowest first, with a bar for the share of the total; `ofOtherPlan`: dimmed. Those in bodies, all
/// calls together, are rows of their own behind their holder's, whose parts they are.
TableContent profileContent(const Run& run, bool ofOtherPlan);

}  // namespace fusescope
