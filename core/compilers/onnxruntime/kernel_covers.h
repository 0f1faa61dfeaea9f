#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "compilers/onnxruntime/tensor_bindings.h"
#include "planning/read_back_plan.h"

namespace fusescope::onnxruntime {

/// Which nodes of a network the kernels of its optimised form calculate.
struct KernelCovers {
  /// By node of the optimised graph: nodes of the network that was handed over, ascending.
  std::vector<std::vector<std::pair<std::uint32_t, Certainty>>> nodes;
  std::vector<std::uint32_t> regionOf;  ///< by node of the optimised graph: kernels of one region have one number
  std::vector<SliceCover> covers;       ///< by region
  std::vector<Fate> fates;              ///< by node of the network
};

/// Kernels between bound tensors form regions; their nodes are those that lie between these tensors. In a region of
/// several kernels nodes go to kernels that can calculate them, by names where there are some.
KernelCovers coverKernels(const Network& network, const Optimised& optimised);

}  // namespace fusescope::onnxruntime
