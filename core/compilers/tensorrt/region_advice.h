#pragma once

#include <vector>

#include "planning/read_back/read_back_plan.h"

namespace fusescope {

/// Returns what can be done about the kernels of regions, which TensorRT compiles as a whole: what prevents attention
/// from becoming one kernel, what splits a kernel, how to preserve a type inside, and how to learn which nodes a region
/// contains. Each decision says what it is based on: NVIDIA's documentation, or a trial with TensorRT for RTX, which
/// has the same compiler for regions (tests/unit/tensorrt_engines/region_advice_test.cpp repeats these trials).
/// `kernels` are those of a ReadBack, with nodes of the graph of `plan`.
std::vector<Decision> regionAdvice(const Plan& plan, const std::vector<ReadBackKernel>& kernels);

}  // namespace fusescope
