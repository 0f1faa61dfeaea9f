#pragma once

#include "session/runs/run_comparison.h"
#include "ui/document/plan_snapshot.h"
#include "ui/models/table_model.h"

namespace fusescope {

// The simple tables, as values. These functions are pure, so that tests need no window.

/// Returns the casts of a plan and in its bodies: value, from, to, where, bytes, why.
TableContent castsContent(const PlanSnapshot& snapshot);
/// Returns the groups of a comparison, the largest difference first; without rows for null.
TableContent compareContent(const RunComparison* comparison);
/// Returns the errors of outputs and of inner values. Those beyond their tolerance are marked.
TableContent errorsContent(const std::vector<TensorComparison>& outputs, const std::vector<TensorComparison>& values);
/// Returns the same for a comparison, with the number of values in bodies that are not compared; without rows for null.
TableContent errorsContent(const RunComparison* comparison);

}  // namespace fusescope
