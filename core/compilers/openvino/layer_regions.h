#pragma once

#include <cstdint>
#include <vector>

#include "compilers/openvino/layer_tensors.h"

namespace fusescope {

/// Layers that stand together, since it is not told what they hand to each other.
struct LayerRegion {
  std::vector<std::uint32_t> layers;  ///< ascending
  SliceRegion tensors;                ///< what they read of others, and what they make
};

/// The kernels of a graph in regions. Every kernel is in one.
std::vector<LayerRegion> layerRegions(const ExecutionGraph& graph, const LayerTensors& layers);

/// What the layers tell of the file's tensors.
ToldTensors toldTensors(const ExecutionGraph& graph, const LayerTensors& layers, const TensorGraph& file);

}  // namespace fusescope
