#pragma once

#include <vector>

#include "compilers/onnxruntime/kernel_covers.h"
#include "planning/read_back/read_back_plan.h"

namespace fusescope::onnxruntime {

/// Makes the read-back from the optimised network: a kernel for each of its nodes, in its order, the fates of nodes
/// without a kernel, and conversions of layouts and types.
ReadBack readOptimised(const Network& network, const Optimised& optimised, const KernelCovers& covers);

}  // namespace fusescope::onnxruntime
