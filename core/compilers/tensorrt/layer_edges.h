#pragma once

#include <cstddef>
#include <vector>

#include "compilers/probed/compiler_input.h"
#include "frontends/tensorrt/layer_list.h"

namespace fusescope {

/// Which layers of an engine write the tensors that others read, and which values of the network these are.
struct LayerEdges {
  static constexpr std::size_t kNone = SIZE_MAX;
  struct Input {
    std::size_t layer = kNone;  ///< the last layer that wrote it before; kNone: an input of the engine, or a constant
    ValueId value;              ///< invalid: unknown, or not a value of the network
  };
  std::vector<std::vector<Input>> inputs;       ///< for each layer, in the order of ListedLayer::inputs
  std::vector<std::vector<ValueId>> outputs;    ///< for each layer, in the order of ListedLayer::outputs
  std::vector<std::vector<std::size_t>> users;  ///< for each layer, the layers that read its outputs, without
                                                ///< duplicates
};

/// Finds the edges. A tensor that has the name of a value and as many elements is that value. This also applies to the
/// output of a layer without nodes (`containsNodes` of the layer is false) that reads only this tensor and writes as
/// many elements.
LayerEdges layerEdges(const std::vector<ListedLayer>& layers, const CompilerInput& network,
                      const std::vector<bool>& containsNodes);

/// Returns whether a tensor of an engine and a value can have the same elements, as far as extents are known.
bool mayHaveSameElements(const ListedTensor& tensor, const TensorType& type);

}  // namespace fusescope
