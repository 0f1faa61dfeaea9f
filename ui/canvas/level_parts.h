#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "planning/cover_blocks.h"
#include "ui/canvas/canvas_items.h"

namespace fusescope {

/// What all scenes have of a cover, of the network or of a body, whatever is open in them. Items are made by one thread
/// at a time; all else may be read by any.
struct LevelParts {
  /// `tree`: of the cover's model; null: no blocks. The cover and the fonts outlive it.
  LevelParts(const Cover& of, const BodyPath& path, const CanvasFonts& fonts, std::shared_ptr<const ModuleTree> tree);

  const Cover& cover;
  const std::shared_ptr<const ModuleTree> modules;  ///< of the cover's model; null: no blocks
  CanvasItems items;
  std::vector<int> fusedOfNode;            ///< by node: the first fused node that holds it; -1: none
  std::vector<std::uint32_t> placeOfNode;  ///< by node: in the order of the graph
  std::vector<QString> handles;            ///< by fused node: whatever says them shares them
  CoverBlocks blocks;
  std::vector<QString> blockHandles;             ///< by block
  std::vector<int> blockOfNode;                  ///< by node: the innermost that holds it, or -1; empty: no blocks
  std::shared_ptr<const CanvasKernels> kernels;  ///< null: there are no blocks
  std::vector<DataType> asked;                   ///< by node: what a pin asks for; empty: there are no blocks

  const Graph& graph() const { return cover.graph(); }
  QString nameOf(const Node& node) const { return items.nameOf(node.name); }
  /// The name of a fused node, for people; several may have one.
  QString nameOf(const FusedNode& fused) const { return items.nameOf(fused.name); }
  /// The nodes that are drawn in a fused node: each is drawn once, in the first one that holds it.
  void drawnIn(std::size_t fused, std::vector<NodeId>& nodes) const;
  /// Whether it is drawn as a container that can be opened: of several nodes, or of bodies.
  bool canOpen(std::size_t fused) const;
  /// What a block says while it is closed, or open: made once.
  const CanvasItem& blockItem(std::size_t block) const;

 private:
  mutable std::vector<std::optional<CanvasItem>> m_blockItems;
};

}  // namespace fusescope
