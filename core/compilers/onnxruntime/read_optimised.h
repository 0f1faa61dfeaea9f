#pragma once

#include <vector>

#include "compilers/onnxruntime/kernel_covers.h"
#include "planning/read_back_plan.h"

namespace fusescope::onnxruntime {

/// What the optimised network tells of the one that was handed over: a kernel for each of its nodes, in its order, the
/// fates of nodes without one, and conversions of layouts and types.
ReadBack readOptimised(const Network& network, const Optimised& optimised, const KernelCovers& covers);

}  // namespace fusescope::onnxruntime
