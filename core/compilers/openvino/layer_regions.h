#pragma once

#include <cstdint>
#include <vector>

#include "compilers/openvino/layer_tensors.h"

namespace fusescope {

/// Layers that are kept together, because the tensors between them are not reported.
struct LayerRegion {
  std::vector<std::uint32_t> layers;  ///< ascending
  SliceRegion tensors;                ///< the tensors that they read from other layers, and those that they make
};

/// Divides the kernels of a graph into regions. Every kernel is in exactly one.
std::vector<LayerRegion> layerRegions(const ExecutionGraph& graph, const LayerTensors& layers);

/// Returns what the layers reveal about the file's tensors.
RevealedTensors revealedTensors(const ExecutionGraph& graph, const LayerTensors& layers, const TensorGraph& file);

}  // namespace fusescope
