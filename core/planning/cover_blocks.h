#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "planning/cover.h"
#include "planning/patterns/module_tree.h"

namespace fusescope {

/// A block as it is drawn: the part of a module that is in one segment. A kernel, or a node without a kernel, is in the
/// innermost block that contains all its nodes.
struct CoverBlock {
  int module = -1;            ///< index into ModuleTree::modules
  int segment = -1;           ///< index into Cover::segments; -1: in a body, or in no segment
  int parent = -1;            ///< the enclosing block, which has a smaller index; -1: none
  bool whole = true;          ///< the block contains all nodes of the module
  bool split = false;         ///< other segments have blocks of the module, too
  int boxes = 0;              ///< the number of boxes that it shows when it is open and all blocks in it are closed
  int copies = 0;             ///< for a run: how many of its copies are in the block; otherwise 0
  std::vector<NodeId> nodes;  ///< kernel by kernel
  std::vector<int> kernels;   ///< ascending indices into Cover::fusedNodes, including those of inner blocks
};

/// The blocks of a cover, outer blocks before inner ones. A module that would show only a single box has no block; the
/// box is drawn in its place. Construction takes time in proportion to the number of nodes and to the depth of modules.
/// May be used in any thread.
class CoverBlocks {
 public:
  /// `tree` is that of the cover's model. If it is null or of another graph, there are no blocks. If `ofBody` is true,
  /// the cover is that of a body, and segments are ignored.
  CoverBlocks(const Cover& cover, std::shared_ptr<const ModuleTree> tree, bool ofBody);

  const std::vector<CoverBlock>& all() const { return m_all; }
  const Module& moduleOf(const CoverBlock& block) const {
    return m_tree->modules[static_cast<std::size_t>(block.module)];
  }
  /// Returns "module:PATH", followed by the segment if the module is in several.
  std::string handleOf(const Cover& cover, const CoverBlock& block) const;
  const ModuleTree* tree() const { return m_tree.get(); }
  /// Returns the number of boxes that are in no block; blocks count as boxes.
  int outermostBoxes() const { return m_outermost; }

 private:
  /// What is drawn as one box if no block is closed.
  struct Unit {
    int module = -1;  ///< the innermost module that contains all its nodes
    int segment = -1;
    int kernel = -1;  ///< -1: a node without one
    std::vector<NodeId> nodes;
  };
  /// The part of a module in one segment, whether it is a block or not.
  struct Part {
    int module, segment;
    int boxes = 0, copies = 0;
    int block = -1;  ///< index of its block; -1 if it is none
  };
  std::vector<Unit> unitsOf(const Cover& cover, bool ofBody) const;
  int common(int a, int b) const;
  std::size_t partOf(int module, int segment);
  void addBlocks(const std::vector<Unit>& units);

  std::shared_ptr<const ModuleTree> m_tree;
  std::vector<int> m_depth;  ///< by module
  std::vector<Part> m_parts;
  std::vector<std::vector<std::size_t>> m_partsOf;  ///< by module
  std::vector<CoverBlock> m_all;
  int m_outermost = 0;
};

}  // namespace fusescope
