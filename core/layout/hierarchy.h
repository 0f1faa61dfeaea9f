#pragma once

#include <memory>
#include <unordered_map>

#include "layout/layered.h"

namespace fusescope {

/// One level of a LayoutGraph: what one container holds, or, the last, what stands at the top.
struct Level {
  LevelGraph graph;
  std::vector<int> boxes;       ///< entity -> box, or -1
  std::vector<int> containers;  ///< entity -> container, or -1
  /// Entity -> where it stood in the picture that this one comes of. None at all if there was none.
  std::vector<std::optional<PlacedRect>> earlier;
  LayeredState state;
  std::shared_ptr<const LevelLayout> layout;
};

/// A LayoutGraph taken apart into levels, and each of its edges into one piece a level.
struct Hierarchy {
  struct Piece {
    int level, edge;
  };
  std::vector<Level> levels;               ///< as the containers, and the top
  std::vector<int> entityOfContainer;      ///< in the level around it
  std::vector<int> parent;                 ///< of a level: the one around it; -1: of the top
  std::vector<int> inward;                 ///< levels, each before those inside it
  std::vector<std::vector<Piece>> pieces;  ///< by edge, from its source to its target
  int top() const { return static_cast<int>(levels.size()) - 1; }
};

/// `graph` has been checked.
Hierarchy hierarchyOf(const LayoutGraph& graph);
/// Ranks of every level, their order, and that of the ports on every border: as the outside wants them, so that wires
/// cross at a border only where neither side can do without. What is inside a container has the order that follows from
/// its content and its ports, and from where that stood earlier.
Status orderHierarchy(Hierarchy& hierarchy, const StopToken& stop);

}  // namespace fusescope
