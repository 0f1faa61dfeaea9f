#pragma once

#include "session/run_comparison.h"
#include "ui/document/plan_snapshot.h"
#include "ui/models/table_model.h"

namespace fusescope {

// The simple tables as values. Pure functions, so that a test needs no window.

/// Casts of a plan and in its bodies: value, from, to, where, bytes, why.
TableContent castsContent(const PlanSnapshot& snapshot);
/// Groups of a comparison, largest difference first; of null no rows.
TableContent compareContent(const RunComparison* comparison);
/// Errors of outputs and of values inside. Those beyond their tolerance are marked.
TableContent errorsContent(const std::vector<TensorComparison>& outputs, const std::vector<TensorComparison>& values);
/// The same of a comparison, and how many values in bodies are not compared; of null no rows.
TableContent errorsContent(const RunComparison* comparison);

}  // namespace fusescope
