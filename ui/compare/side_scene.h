#pragma once

#include <map>
#include <unordered_map>

#include "diff/union_cover.h"
#include "ui/canvas/canvas_builder.h"

namespace fusescope {

/// The texts of one side of a comparison for the items and edges of the union's scene. It refers to its arguments.
class SideScene {
 public:
  SideScene(const UnionCover& both, const BuiltCanvas& built, bool ofA, const CanvasFonts& fonts);

  /// Returns the items that this side draws differently from the union; the union's keys, names, containers and counts
  /// are kept.
  const std::unordered_map<int, CanvasItem>& items() const { return m_items; }
  /// Returns whether this side has something for an item that is a node, an input, an output or a fused node.
  bool has(int item) const { return m_isThere[std::size_t(item)] != 0; }
  /// Returns this side's version of each edge; null: it has no such edge.
  std::vector<const CanvasEdge*> edges(const CanvasScene& scene);

  /// A kernel of this side that contains nodes which are drawn one by one.
  struct DrawnKernel {
    const UnionLevel* level;
    std::uint32_t kernel;  ///< index among the fused nodes of the side
    std::vector<int> items;
  };
  const std::vector<DrawnKernel>& drawnKernels() const { return m_drawn; }
  const Cover& coverOf(const UnionLevel& level) const { return m_ofA ? *level.a : *level.b; }
  const std::vector<std::uint32_t>& kernelsOf(const UnionGroup& group) const { return m_ofA ? group.a : group.b; }
  /// Returns the level of the union for a level of the scene.
  const UnionLevel& levelOf(const CanvasLevel& level) const;

 private:
  void makeLevels();
  void addLevel(const CanvasLevel& of);
  void addNodes(const CanvasLevel& mine, const UnionLevel& level);
  void addGroups(const BuiltCanvas& built);
  void addBlocks(const CanvasLevel& of);

  const UnionCover& m_both;
  const BuiltCanvas& m_built;
  const bool m_ofA;
  const CanvasFonts& m_fonts;
  std::deque<LevelParts> m_parts;  ///< the parts of m_levels
  std::deque<CanvasLevel> m_levels;
  std::map<const CanvasLevel*, CanvasLevel*> m_mine;  ///< by level of the scene; contains the levels that this side has
  std::unordered_map<int, CanvasItem> m_items;
  std::vector<char> m_isThere;  ///< indexed by item
  std::vector<DrawnKernel> m_drawn;
  std::vector<CanvasEdge> m_wires;
};

}  // namespace fusescope
