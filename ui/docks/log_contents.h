#pragma once

#include <vector>

#include "session/run.h"
#include "ui/models/table_model.h"

namespace fusescope {

class PlanSnapshot;

// What is shown of the log of a run, as values.

/// The newest run before `run` that was built by the same compiler, of the same model: what its phases are held
/// against. Null: there is none.
const Run* lastOfItsKind(const std::vector<Run>& runs, const Run& run);
/// The phases of its build, each beside what it took in `last`, which may be null; all together at the end. No rows
/// where it was not built.
TableContent phasesContent(const Run& run, const Run* last);
/// A line of a log safe inside HTML, in which every name of a node or value of the plan is a link. `snapshot` may be
/// null.
QString logLineHtml(const QString& line, const PlanSnapshot* snapshot);

}  // namespace fusescope
