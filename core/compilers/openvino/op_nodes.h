#pragma once

#include <cstdint>
#include <vector>

#include "compilers/openvino/imported_network.h"
#include "compilers/probed/slices.h"

namespace fusescope {

/// Says which node of the file each operator of the imported network is, or is a part of. This is found by names of
/// tensors: a node that became several operators has its tensors on the last of them, and earlier operators without a
/// name are between tensors that have one.
struct OpNodes {
  static constexpr std::uint32_t kNone = TensorGraph::kNone;

  std::vector<std::vector<std::uint32_t>> tensors;  ///< for each operator and output, the tensor of the file, or kNone
  std::vector<std::uint32_t> nodes;                 ///< for each operator, the node of the file, or kNone
  std::vector<bool> makesTensor;                    ///< for each operator, whether it makes a tensor of that node
};

OpNodes opNodes(const ImportedNetwork& imported, const TensorGraph& file);

}  // namespace fusescope
