#pragma once

#include <map>
#include <string>
#include <vector>

#include "compilers/tensorrt/layer_edges.h"
#include "compilers/tensorrt/layer_names.h"
#include "planning/read_back_plan.h"

namespace fusescope {

/// What a layer of an engine is of a network.
struct LayerPlace {
  enum class Role {
    Kernel,      ///< it holds nodes
    Conversion,  ///< it holds none: it converts, moves or synchronises
    Unplaced     ///< it is not known which nodes it holds
  };
  Role role = Role::Unplaced;
  std::map<NodeId, Certainty> nodes{};
  std::string why{};              ///< of one that is unplaced
  std::vector<NodeId> nearest{};  ///< likewise: nodes that it may hold
};

struct LayerPlaces {
  std::vector<LayerPlace> places;  ///< by layer
  LayerEdges edges;
  std::vector<NodeId> merged{};  ///< nodes without a layer in whose place an equal node is calculated
};

/// Finds the nodes of each layer of an engine that others built from `network`, under the names that it has: by the
/// names in metadata, else by those that a layer's own name is made of (Named; Guessed where a name may be of several),
/// by what `log` tells of regions, then by tensors: nodes between what a layer reads and what it writes (Derived). A
/// layer whose tensors contradict the nodes that it names is not placed: it is of another network. `log` may be null.
LayerPlaces placeLayers(const HandedNetwork& network, const std::vector<ListedLayer>& layers, const EngineLog* log);

}  // namespace fusescope
