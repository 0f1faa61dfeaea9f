#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/model.h"

namespace fusescope {

/// A module as names and metadata of nodes tell it, and the nodes that are in it and in no module within it.
struct ModuleScope {
  std::string part;         ///< of its path: "attention"
  std::int32_t parent = 0;  ///< comes before it
  std::vector<std::int32_t> children;
  std::vector<NodeId> nodes;  ///< graph order
};

/// The modules of a network, the whole of it first. Nothing where fewer than a quarter of its nodes say that they are
/// in one. A node that says nothing is put where all its neighbours are; one that several modules read and that depends
/// on none of them, in the module around these.
std::vector<ModuleScope> moduleScopesOf(const Model& model);

}  // namespace fusescope
