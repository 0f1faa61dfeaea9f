#include "diff/block_places.h"

#include <algorithm>

#include "ir/graph.h"

namespace fusescope {

BlockPlaces::BlockPlaces(const Model& model) : m_tree(moduleTreeOf(model)), m_place(model.graph->nodeIdLimit(), 0) {
  std::uint32_t place = 0;
  for (const NodeId node : model.graph->order()) m_place[node.index] = place++;
}

std::vector<std::int32_t> BlockPlaces::around(NodeId node) const {
  std::vector<std::int32_t> blocks;
  for (std::int32_t block = m_tree.moduleOf[node.index]; block >= 0; block = module(block).parent)
    blocks.push_back(block);
  std::ranges::reverse(blocks);
  return blocks;
}

NodeId BlockPlaces::firstLike(NodeId node) const {
  std::vector<std::int32_t> blocks = around(node);
  for (std::size_t depth = 1; depth < blocks.size(); ++depth) {
    const Module& run = module(blocks[depth - 1]);
    if (!run.isRun || blocks[depth] == run.children.front()) continue;
    const std::vector<NodeId>& copy = module(blocks[depth]).nodes;
    const auto found =
        std::ranges::lower_bound(copy, m_place[node.index], {}, [&](NodeId other) { return m_place[other.index]; });
    const std::vector<NodeId>& first = module(run.children.front()).nodes;
    const auto k = static_cast<std::size_t>(found - copy.begin());
    if (k >= first.size()) return node;
    node = first[k];
    blocks = around(node);
  }
  return node;
}

std::int32_t BlockPlaces::copyOf(NodeId node) const {
  const std::vector<std::int32_t> blocks = around(node);
  for (std::size_t depth = 1; depth < blocks.size(); ++depth)
    if (module(blocks[depth - 1]).isRun) return blocks[depth];
  return -1;
}

std::int32_t BlockPlaces::blockOf(NodeId node) const {
  const std::vector<std::int32_t> blocks = around(node);
  for (const std::int32_t block : blocks)
    if (module(block).isRun) return block;
  return blocks.empty() ? -1 : blocks.front();
}

}  // namespace fusescope
