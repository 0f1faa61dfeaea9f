#pragma once

#include "session/verdict.h"
#include "ui/document/file_diff.h"
#include "ui/models/table_model.h"

namespace fusescope {

// Tables of what was checked, as values.

/// Each sample of an evaluation: does it pass by `tolerance`, its worst output and by how much. What fails stands
/// first, the worst before the others; of null no rows.
TableContent verdictsContent(const Evaluation* evaluation, const Tolerance& tolerance);
/// What differs between a file's plan (A) and the plan on screen (B), each with what caused it; of null no rows.
TableContent differencesContent(const ComparedPlans* compared);

}  // namespace fusescope
