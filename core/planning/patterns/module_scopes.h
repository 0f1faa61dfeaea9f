#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "ir/model.h"

namespace fusescope {

/// A module that names and metadata of nodes give, with the nodes that are directly in it.
struct ModuleScope {
  std::string part;         ///< the last part of its path: "attention"
  std::int32_t parent = 0;  ///< an index smaller than its own
  std::vector<std::int32_t> children;
  std::vector<NodeId> nodes;  ///< graph order
};

/// Returns the modules of a network, of which the first is the whole network. Returns nothing if names or metadata
/// assign less than a quarter of the nodes to modules. A node without such information is assigned to the module of all
/// its neighbours. A node that several modules read and that depends on none of them is assigned to the innermost
/// module around these.
std::vector<ModuleScope> moduleScopesOf(const Model& model);

}  // namespace fusescope
