#pragma once

#include <map>
#include <string>
#include <vector>

#include "compilers/tensorrt/layer_edges.h"
#include "compilers/tensorrt/layer_names.h"
#include "planning/read_back_plan.h"

namespace fusescope {

/// The nodes that belong to a layer of an engine.
struct LayerPlace {
  enum class Role {
    Kernel,      ///< it contains nodes
    Conversion,  ///< it contains no nodes: it converts, moves or synchronises
    Unplaced     ///< its nodes are unknown
  };
  Role role = Role::Unplaced;
  std::map<NodeId, Certainty> nodes{};
  std::string why{};              ///< the reason, if it is unplaced
  std::vector<NodeId> nearest{};  ///< if it is unplaced, nodes that it may contain
};

struct LayerPlaces {
  std::vector<LayerPlace> places;  ///< for each layer
  LayerEdges edges;
  std::vector<NodeId> merged{};  ///< nodes without a layer, because an equal node is calculated instead
};

/// Finds the nodes of each layer of an engine that was built elsewhere from `network`, with its own names. It uses in
/// this order: names in metadata, names in the layer's own name (Named, or Guessed if a name is ambiguous), what `log`
/// says about regions, and tensors: the nodes between what a layer reads and what it writes (Derived). A layer whose
/// tensors contradict its named nodes is not placed, because it is from another network. `log` may be null.
LayerPlaces placeLayers(const CompilerInput& network, const std::vector<ListedLayer>& layers, const EngineLog* log);

}  // namespace fusescope
