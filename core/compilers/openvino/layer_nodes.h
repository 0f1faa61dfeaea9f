#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compilers/openvino/layer_tensors.h"
#include "ir/graph.h"

namespace fusescope {

/// A node of the file in a layer, and how that is known.
struct HeldNode {
  std::uint32_t node = 0;
  Certainty certainty = Certainty::Guessed;
};

struct LayerNodes {
  std::vector<std::vector<HeldNode>> held;  ///< by layer; ascending
  std::vector<Fate> fates;                  ///< by node of the file; Kernel: a layer holds it
};

/// Which nodes the layers calculate. Named: OpenVINO names the operator that makes the node's result. Derived: it names
/// a part of it, or the node lies between the tensors that a layer reads and makes, or it is what layers with made-up
/// names calculate together. Guessed: a layer nearby may have taken it, and nothing that is said rules it out. `nodes`:
/// the node of our graph that each node of the file is; null: none, and it is judged by its tensors alone. No layer
/// holds what it cannot do.
LayerNodes layerNodes(const ExecutionGraph& graph, const OpNodes& ops, const LayerTensors& layers,
                      const TensorGraph& file, std::span<const Node* const> nodes);

}  // namespace fusescope
