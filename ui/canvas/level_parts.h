#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "ir/graph.h"
#include "planning/cover_blocks.h"
#include "ui/canvas/canvas_items.h"

namespace fusescope {

/// The data of one cover, of the network or of a body, that all its scenes share, whatever is open in them. Items must
/// be made by one thread at a time; any thread may read the rest.
struct LevelParts {
  /// `tree` is that of the cover's model; null: no blocks. The cover and the fonts must outlive it.
  LevelParts(const Cover& of, const BodyPath& path, const CanvasFonts& fonts, std::shared_ptr<const ModuleTree> tree);

  const Cover& cover;
  const std::shared_ptr<const ModuleTree> modules;  ///< modules of the cover's model; null: no blocks
  CanvasItems items;
  std::vector<int> fusedOfNode;            ///< for each node, the first fused node that contains it; -1: none
  std::vector<std::uint32_t> placeOfNode;  ///< for each node, its index in the order of the graph
  std::vector<QString> handles;            ///< for each fused node; users share these strings
  CoverBlocks blocks;
  std::vector<QString> blockHandles;             ///< for each block
  std::vector<int> blockOfNode;                  ///< for each node, the innermost block that contains it, or -1; empty:
                                                 ///< no blocks
  std::shared_ptr<const CanvasKernels> kernels;  ///< null: there are no blocks
  std::vector<DataType> asked;                   ///< for each node, the type that a pin asks for; empty: there are no
                                                 ///< blocks
  mutable std::vector<std::optional<CanvasItem>> blockItems;  ///< for each block, what blockItem() has made

  const Graph& graph() const { return cover.graph(); }
  QString nameOf(const Node& node) const { return items.nameOf(node.name); }
  /// Returns the name of a fused node for people; several may have the same.
  QString nameOf(const FusedNode& fused) const { return items.nameOf(fused.name); }
  /// Returns the nodes that are drawn in a fused node. Each node is drawn once, in the first fused node that contains
  /// it.
  void drawnIn(std::size_t fused, std::vector<NodeId>& nodes) const;
  /// Returns whether it is drawn as a container that can be opened: it has several nodes, or bodies.
  bool canOpen(std::size_t fused) const;
};

}  // namespace fusescope
