#pragma once

#include "session/reports/run_matrix.h"
#include "ui/models/table_model.h"

namespace fusescope {

/// Returns a matrix of runs as a table with a row for each group of kernels and a column for each run. A cell contains
/// the time of its kernels and its source, the types in which they calculate, and their number; its bar shows the
/// difference from the first run if both were timed under the same conditions.
TableContent matrixContent(const RunMatrix& matrix);
/// Returns the times of the whole runs, and which were timed under other conditions, in sentences.
QString matrixSummary(const RunMatrix& matrix);

}  // namespace fusescope
