#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planning/module_tree.h"

namespace fusescope {

/// Where nodes of a network stand in its repeated blocks: counterparts in copies of a block have the same place.
class BlockPlaces {
 public:
  explicit BlockPlaces(const Model& model);

  /// The node at the same place of the first copies of all runs around `node`; a node of no run stands for itself.
  NodeId firstLike(NodeId node) const;
  /// The copy of the outermost run that holds `node`, as an index of modules; -1: no run does.
  std::int32_t copyOf(NodeId node) const;
  /// The outermost run that holds `node`, else the outermost block; -1: no block does.
  std::int32_t blockOf(NodeId node) const;
  const Module& module(std::int32_t index) const { return m_tree.modules[static_cast<std::size_t>(index)]; }

 private:
  std::vector<std::int32_t> around(NodeId node) const;  ///< from the outside in

  ModuleTree m_tree;
  std::vector<std::uint32_t> m_place;  ///< by NodeId: in the order of the graph
};

}  // namespace fusescope
