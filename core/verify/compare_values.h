#pragma once

#include <vector>

#include "engine/engine.h"
#include "verify/compare_tensors.h"

namespace fusescope {

/// Compares the inner values that both runs of a network returned with those of `expected`, in the order of `graph`. A
/// value in a narrower type, as in a truncated plan, is compared in the type of `expected`.
std::vector<TensorComparison> compareValues(const Graph& graph, const RunResult& actual, const RunResult& expected,
                                            const Tolerance& tolerance);

}  // namespace fusescope
