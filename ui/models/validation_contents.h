#pragma once

#include "session/runs/verdict.h"
#include "ui/document/file_diff.h"
#include "ui/models/table_model.h"

namespace fusescope {

// Tables of checks, as values.

/// Returns each sample of an evaluation: whether it passes with `tolerance`, its worst output and that output's error.
/// Failing samples are first, the worst at the top; without rows for null.
TableContent verdictsContent(const Evaluation* evaluation, const Tolerance& tolerance);
/// Returns the differences between a file's plan (A) and the displayed plan (B), each with its cause; without rows for
/// null.
TableContent differencesContent(const ComparedPlans* compared);

}  // namespace fusescope
