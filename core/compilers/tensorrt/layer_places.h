#pragma once

#include <map>
#include <string>
#include <vector>

#include "compilers/tensorrt/layer_edges.h"
#include "compilers/tensorrt/layer_names.h"
#include "planning/read_back/read_back_plan.h"

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

}  // namespace fusescope
