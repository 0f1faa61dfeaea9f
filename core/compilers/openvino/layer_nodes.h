#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compilers/openvino/layer_tensors.h"

namespace fusescope {

struct Node;

/// A node of the file in a layer, and its certainty.
struct HeldNode {
  std::uint32_t node = 0;
  Certainty certainty = Certainty::Guessed;
};

struct LayerNodes {
  std::vector<std::vector<HeldNode>> held;  ///< for each layer, ascending
  std::vector<Fate> fates;                  ///< for each node of the file; Kernel: it is in a layer
};

/// Determines which nodes the layers calculate. Named: OpenVINO names the operator that makes the node's result.
/// Derived: it names a part of that operator, or the node is between the tensors that a layer reads and writes, or
/// layers with invented names calculate it together. Guessed: a layer nearby may calculate it, and nothing contradicts
/// that. `nodes` contains for each node of the file the node of our graph; null: there is none, and it is judged only
/// by its tensors. A layer never gets a node that it cannot calculate.
LayerNodes layerNodes(const ExecutionGraph& graph, const OpNodes& ops, const LayerTensors& layers,
                      const TensorGraph& file, std::span<const Node* const> nodes);

}  // namespace fusescope
