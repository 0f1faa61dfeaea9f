#pragma once

#include <memory>
#include <unordered_map>

#include "layout/layered.h"

namespace fusescope {

/// One level of a LayoutGraph: the contents of one container or, as the last level, everything outside containers.
struct Level {
  LevelGraph graph;
  std::vector<int> boxes;       ///< entity -> box, or -1
  std::vector<int> containers;  ///< entity -> container, or -1
  /// By entity: its rectangle in the earlier picture. Empty if there was no earlier picture.
  std::vector<std::optional<PlacedRect>> earlier;
  LayeredState state;
  std::shared_ptr<const LevelLayout> layout;
};

/// A LayoutGraph divided into levels; each edge is divided into one piece per level.
struct Hierarchy {
  struct Piece {
    int level, edge;
  };
  std::vector<Level> levels;               ///< one per container, then the top level
  std::vector<int> entityOfContainer;      ///< the container's entity in the enclosing level
  std::vector<int> parent;                 ///< by level: the enclosing level; -1 for the top level
  std::vector<int> inward;                 ///< the levels, outer ones before inner ones
  std::vector<std::vector<Piece>> pieces;  ///< by edge, from its source to its target
  int top() const { return static_cast<int>(levels.size()) - 1; }
};

/// Divides `graph`, which must have passed checkLayoutGraph().
Hierarchy hierarchyOf(const LayoutGraph& graph);
/// Determines the ranks of every level, the order within ranks, and the order of the ports on every border. Outer
/// levels determine the order of ports, so that wires cross at a border only if neither side can avoid it. The order
/// inside a container follows from its contents, its ports, and where these were in the earlier picture.
Status orderHierarchy(Hierarchy& hierarchy, const StopToken& stop);

}  // namespace fusescope
