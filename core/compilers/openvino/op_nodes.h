#pragma once

#include <cstdint>
#include <vector>

#include "compilers/openvino/imported_network.h"
#include "compilers/probed/slices.h"

namespace fusescope {

/// Which nodes of the file the operators of the imported network are, or are part of. Names of tensors tell: a node
/// that became several operators has its tensors on the last of them, and those before it that have no name are between
/// tensors that have one.
struct OpNodes {
  static constexpr std::uint32_t kNone = TensorGraph::kNone;

  std::vector<std::vector<std::uint32_t>> tensors;  ///< by operator and output: a tensor of the file; else kNone
  std::vector<std::uint32_t> nodes;                 ///< by operator: a node of the file; else kNone
  std::vector<bool> makesTensor;                    ///< by operator: it makes a tensor of that node
};

OpNodes opNodes(const ImportedNetwork& imported, const TensorGraph& file);

}  // namespace fusescope
