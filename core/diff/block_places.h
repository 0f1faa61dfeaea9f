#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "planning/patterns/module_tree.h"

namespace fusescope {

/// Finds the positions of nodes in repeated blocks of a network: corresponding nodes in copies of a block have the same
/// position.
class BlockPlaces {
 public:
  explicit BlockPlaces(const Model& model);

  /// Returns the node at the same position in the first copies of all runs around `node`; a node that is in no run is
  /// returned itself.
  NodeId firstLike(NodeId node) const;
  /// Returns the copy of the outermost run that contains `node`, as an index of modules; -1 if no run contains it.
  std::int32_t copyOf(NodeId node) const;
  /// Returns the outermost run that contains `node`, or else the outermost block; -1 if no block contains it.
  std::int32_t blockOf(NodeId node) const;
  const Module& module(std::int32_t index) const { return m_tree.modules[static_cast<std::size_t>(index)]; }

 private:
  std::vector<std::int32_t> around(NodeId node) const;  ///< from the outermost to the innermost

  ModuleTree m_tree;
  std::vector<std::uint32_t> m_place;  ///< by NodeId: its place in the order of the graph
};

}  // namespace fusescope
