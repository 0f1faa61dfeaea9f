#pragma once

#include <vector>

#include "compilers/tensorrt/layer_names.h"
#include "compilers/tensorrt/layer_places.h"

namespace fusescope {

/// Finds the nodes of each layer of an engine that was built elsewhere from `network`, with its own names. It uses in
/// this order: names in metadata, names in the layer's own name (Named, or Guessed if a name is ambiguous), what `log`
/// says about regions, and tensors: the nodes between what a layer reads and what it writes (Derived). A layer whose
/// tensors contradict its named nodes is not placed, because it is from another network. `log` may be null.
LayerPlaces placeLayers(const CompilerInput& network, const std::vector<ListedLayer>& layers, const EngineLog* log);

}  // namespace fusescope
