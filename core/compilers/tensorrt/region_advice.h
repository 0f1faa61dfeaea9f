#pragma once

#include <vector>

#include "planning/read_back_plan.h"

namespace fusescope {

/// What can be done about the kernels of regions, which TensorRT compiles as a whole: what keeps attention from being
/// one kernel, what takes a kernel apart, how a type is held inside, and how to learn what a region holds. Each says
/// what it rests on: what NVIDIA documents, or what came of it when it was tried with TensorRT for RTX, which has the
/// same compiler of regions (tests/unit/tensorrt_engines/region_advice_test.cpp tries it again). `kernels`: of
/// ReadBack, with their nodes of the graph of `plan`.
std::vector<Decision> regionAdvice(const Plan& plan, const std::vector<ReadBackKernel>& kernels);

}  // namespace fusescope
