#pragma once

#include <vector>

#include "session/runs/run.h"
#include "ui/models/table_model.h"

namespace fusescope {

class PlanSnapshot;

// The contents of the dock for logs of runs, as values.

/// Returns the latest run before `run` that the same compiler built from the same model, whose phases are compared with
/// those of `run`. Null: there is none.
const Run* lastOfItsKind(const std::vector<Run>& runs, const Run& run);
/// Returns the phases of its build, each beside its time in `last`, which may be null, with the total at the end. There
/// are no rows if it was not built.
TableContent phasesContent(const Run& run, const Run* last);
/// Escapes a line of a log for HTML, and makes links of all names of nodes and values of the plan. `snapshot` may be
/// null.
QString logLineHtml(const QString& line, const PlanSnapshot* snapshot);

}  // namespace fusescope
