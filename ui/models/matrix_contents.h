#pragma once

#include "session/run_matrix.h"
#include "ui/models/table_model.h"

namespace fusescope {

/// A matrix of runs as a table: a row for each group of kernels, a column for each run. A cell says what its kernels
/// take and how that is known, in which types they calculate and how many they are; its bar is the difference to the
/// first run, where the two were timed alike.
TableContent matrixContent(const RunMatrix& matrix);
/// What the runs took as a whole, and which were not timed alike, in sentences.
QString matrixSummary(const RunMatrix& matrix);

}  // namespace fusescope
