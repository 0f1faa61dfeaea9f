#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "compilers/onnxruntime/tensor_bindings.h"
#include "planning/read_back/read_back_plan.h"

namespace fusescope::onnxruntime {

/// Which nodes of a network are calculated by the kernels of its optimised form.
struct KernelCovers {
  /// For each node of the optimised graph, the nodes of the original network, ascending.
  std::vector<std::vector<std::pair<std::uint32_t, Certainty>>> nodes;
  std::vector<std::uint32_t> regionOf;  ///< for each node of the optimised graph, the number of its region
  std::vector<SliceCover> covers;       ///< for each region
  std::vector<Fate> fates;              ///< for each node of the original network
};

/// Assigns nodes to kernels. Kernels between bound tensors form regions, whose nodes are those between these tensors.
/// In a region of several kernels, nodes are assigned to kernels that can calculate them, by names if there are some.
KernelCovers coverKernels(const Network& network, const Optimised& optimised);

}  // namespace fusescope::onnxruntime
