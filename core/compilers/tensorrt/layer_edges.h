#pragma once

#include <cstddef>
#include <vector>

#include "compilers/probed/handed_network.h"
#include "frontends/tensorrt/layer_list.h"

namespace fusescope {

/// Which layer of an engine writes what another reads, and which values of the network these tensors are.
struct LayerEdges {
  static constexpr std::size_t kNone = SIZE_MAX;
  struct Input {
    std::size_t layer = kNone;  ///< that wrote it last before it is read; kNone: an input of the engine, or a constant
    ValueId value;              ///< invalid: it is not known, or none of the network's
  };
  std::vector<std::vector<Input>> inputs;       ///< by layer, as ListedLayer::inputs
  std::vector<std::vector<ValueId>> outputs;    ///< by layer, as ListedLayer::outputs
  std::vector<std::vector<std::size_t>> users;  ///< by layer: those that read what it writes, each once
};

/// A tensor that has the name of a value and as many elements is that value. So is what a layer makes of it that holds
/// no nodes (`holdsNodes`, by layer, false), reads nothing else and writes as many elements.
LayerEdges layerEdges(const std::vector<ListedLayer>& layers, const HandedNetwork& network,
                      const std::vector<bool>& holdsNodes);

/// Whether a tensor of an engine and a value can have the same elements, as far as extents are known.
bool canBe(const ListedTensor& tensor, const TensorType& type);

}  // namespace fusescope
