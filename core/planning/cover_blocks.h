#pragma once

#include <memory>
#include <string>
#include <vector>

#include "planning/cover.h"
#include "planning/module_tree.h"

namespace fusescope {

/// A block as it is drawn: what of a module is in one segment. A kernel, or a node without one, is in the innermost
/// block around all its nodes.
struct CoverBlock {
  int module = -1;            ///< index into ModuleTree::modules
  int segment = -1;           ///< index into Cover::segments; -1: of a body, or in none
  int parent = -1;            ///< the block around it, which comes before it; -1: none
  bool whole = true;          ///< all nodes of the module are in it
  bool split = false;         ///< other segments have blocks of the module, too
  int boxes = 0;              ///< that stand in it while it is open and all in it is closed
  int copies = 0;             ///< of a run: of its copies, how many are in it; else 0
  std::vector<NodeId> nodes;  ///< kernel by kernel
  std::vector<int> kernels;   ///< indices into Cover::fusedNodes, those in blocks within it too; ascending
};

/// The blocks of a cover, from the outside to the inside. A module of which a single box would be seen is none: that
/// box stands in its place. Takes time in proportion to the nodes and how deep modules are. Any thread.
class CoverBlocks {
 public:
  /// `tree`: of the cover's model; null, or of another graph: there are no blocks. Of a body there are no segments.
  CoverBlocks(const Cover& cover, std::shared_ptr<const ModuleTree> tree, bool ofBody);

  const std::vector<CoverBlock>& all() const { return m_all; }
  const Module& moduleOf(const CoverBlock& block) const {
    return m_tree->modules[static_cast<std::size_t>(block.module)];
  }
  /// "module:PATH", with the segment where the module is in several.
  std::string handleOf(const Cover& cover, const CoverBlock& block) const;
  const ModuleTree* tree() const { return m_tree.get(); }
  int outermostBoxes() const { return m_outermost; }  ///< that are in no block; blocks are boxes

 private:
  /// What is drawn as one box where no block is closed.
  struct Unit {
    int module = -1;  ///< the innermost around all its nodes
    int segment = -1;
    int kernel = -1;  ///< -1: a node without one
    std::vector<NodeId> nodes;
  };
  /// What of a module is in a segment, be it a block or not.
  struct Part {
    int module, segment;
    int boxes = 0, copies = 0;
    int block = -1;  ///< index of the block that it is; -1: none
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
