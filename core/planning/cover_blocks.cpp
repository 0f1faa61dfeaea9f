#include "planning/cover_blocks.h"

#include <algorithm>

#include "ir/graph.h"

namespace fusescope {

CoverBlocks::CoverBlocks(const Cover& cover, std::shared_ptr<const ModuleTree> tree, bool ofBody)
    : m_tree(std::move(tree)) {
  if (m_tree == nullptr || m_tree->moduleOf.size() != cover.graph().nodeIdLimit()) {
    m_tree = nullptr;
    return;
  }
  m_partsOf.resize(m_tree->modules.size());
  for (const Module& module : m_tree->modules)
    m_depth.push_back(module.parent < 0 ? 0 : m_depth[static_cast<std::size_t>(module.parent)] + 1);
  addBlocks(unitsOf(cover, ofBody));
  m_parts.clear();
  m_partsOf.clear();
}

int CoverBlocks::common(int a, int b) const {
  while (a != b) {
    if (a < 0 || b < 0) return -1;
    int& deeper = m_depth[static_cast<std::size_t>(a)] >= m_depth[static_cast<std::size_t>(b)] ? a : b;
    deeper = m_tree->modules[static_cast<std::size_t>(deeper)].parent;
  }
  return a;
}

std::vector<CoverBlocks::Unit> CoverBlocks::unitsOf(const Cover& cover, bool ofBody) const {
  const Graph& graph = cover.graph();
  std::vector<int> segmentOf(graph.nodeIdLimit(), -1), unitOf(graph.nodeIdLimit(), -1);
  for (std::size_t s = 0; !ofBody && s < cover.segments.size(); ++s)
    for (const NodeId node : cover.segments[s].nodes) segmentOf[node.index] = static_cast<int>(s);
  std::vector<Unit> units;
  const auto put = [&](NodeId node, int unit) {
    const int module = m_tree->moduleOf[node.index], segment = segmentOf[node.index];
    Unit& in = units[static_cast<std::size_t>(unit)];
    in.module = in.nodes.empty() ? module : in.segment != segment ? -1 : common(in.module, module);
    if (in.nodes.empty()) in.segment = segment;
    in.nodes.push_back(node);
    unitOf[node.index] = unit;
  };
  for (std::size_t f = 0; f < cover.fusedNodes.size(); ++f) {
    units.push_back({.kernel = static_cast<int>(f), .nodes = {}});
    for (const NodeId node : cover.fusedNodes[f].nodes)  // a node is drawn in the first kernel that contains it
      if (graph.has(node) && unitOf[node.index] < 0) put(node, static_cast<int>(units.size()) - 1);
  }
  for (const NodeId node : graph.order()) {
    if (unitOf[node.index] >= 0) continue;
    units.push_back({.nodes = {}});
    put(node, static_cast<int>(units.size()) - 1);
  }
  std::erase_if(units, [](const Unit& unit) { return unit.nodes.empty(); });
  return units;
}

std::size_t CoverBlocks::partOf(int module, int segment) {
  std::vector<std::size_t>& parts = m_partsOf[static_cast<std::size_t>(module)];
  for (const std::size_t part : parts)
    if (m_parts[part].segment == segment) return part;
  parts.push_back(m_parts.size());
  m_parts.push_back({.module = module, .segment = segment});
  return parts.back();
}

void CoverBlocks::addBlocks(const std::vector<Unit>& units) {
  const auto parentOf = [&](int module) { return m_tree->modules[static_cast<std::size_t>(module)].parent; };
  for (const Unit& unit : units) {
    if (unit.module < 0) {
      ++m_outermost;
    } else {
      ++m_parts[partOf(unit.module, unit.segment)].boxes;
    }
  }
  for (int module = static_cast<int>(m_tree->modules.size()) - 1; module >= 0; --module) {
    for (std::size_t p = 0; p < m_partsOf[static_cast<std::size_t>(module)].size(); ++p) {
      const std::size_t part = m_partsOf[static_cast<std::size_t>(module)][p];
      const int seen = std::min(m_parts[part].boxes, 1), around = parentOf(module);
      if (around < 0) {
        m_outermost += seen;
        continue;
      }
      Part& outer = m_parts[partOf(around, m_parts[part].segment)];
      outer.boxes += seen;
      if (m_tree->modules[static_cast<std::size_t>(around)].isRun) ++outer.copies;
    }
  }
  const auto blockAround = [&](int module, int segment) {
    for (; module >= 0; module = parentOf(module))
      if (const int block = m_parts[partOf(module, segment)].block; block >= 0) return block;
    return -1;
  };
  for (std::size_t module = 0; module < m_tree->modules.size(); ++module) {
    for (const std::size_t p : m_partsOf[module]) {
      Part& part = m_parts[p];
      if (part.boxes < 2) continue;
      const int parent = blockAround(parentOf(part.module), part.segment);
      part.block = static_cast<int>(m_all.size());
      m_all.push_back({.module = part.module,
                       .segment = part.segment,
                       .parent = parent,
                       .boxes = part.boxes,
                       .copies = part.copies < 2 ? 0 : part.copies,
                       .nodes = {},
                       .kernels = {}});
    }
  }
  for (const Unit& unit : units) {
    for (int block = blockAround(unit.module, unit.segment); block >= 0;
         block = m_all[static_cast<std::size_t>(block)].parent) {
      CoverBlock& of = m_all[static_cast<std::size_t>(block)];
      of.nodes.insert(of.nodes.end(), unit.nodes.begin(), unit.nodes.end());
      if (unit.kernel >= 0) of.kernels.push_back(unit.kernel);
    }
  }
  for (CoverBlock& block : m_all) {
    block.whole = block.nodes.size() == moduleOf(block).nodes.size();
    block.split = std::ranges::count_if(m_partsOf[static_cast<std::size_t>(block.module)],
                                        [&](std::size_t part) { return m_parts[part].block >= 0; }) > 1;
  }
}

std::string CoverBlocks::handleOf(const Cover& cover, const CoverBlock& block) const {
  const std::string handle = kModulePrefix + moduleOf(block).path;
  return block.split && block.segment >= 0
             ? handle + kInSegment + cover.segments[static_cast<std::size_t>(block.segment)].name
             : handle;
}

}  // namespace fusescope
