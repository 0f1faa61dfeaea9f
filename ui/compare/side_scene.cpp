#include "ui/compare/side_scene.h"

#include <algorithm>

#include "ui/canvas/block_item.h"

namespace fusescope {

SideScene::SideScene(const UnionCover& both, const BuiltCanvas& built, bool ofA, const CanvasFonts& fonts)
    : m_both(both), m_built(built), m_ofA(ofA), m_fonts(fonts), m_isThere(built.scene.items.size(), 0) {
  makeLevels();
  addGroups(built);
  for (const CanvasLevel& of : built.levels) addBlocks(of);
}

const UnionLevel& SideScene::levelOf(const CanvasLevel& level) const {
  return *std::ranges::find(m_both.levels, &level.cover, &UnionLevel::cover);
}

// The level of a body comes after the level around it, to which it refers.
void SideScene::makeLevels() {
  for (const CanvasLevel& of : m_built.levels) {
    const UnionLevel& level = levelOf(of);
    if ((m_ofA ? level.a : level.b) == nullptr) continue;
    const bool sameNodes = &coverOf(level).graph() == &of.graph();
    const LevelParts& parts =
        m_parts.emplace_back(coverOf(level), of.items.path(), m_fonts, sameNodes ? of.parts.modules : nullptr);
    m_mine[&of] = &m_levels.emplace_back(parts);
  }
  for (const CanvasLevel& of : m_built.levels)
    if (m_mine.contains(&of)) addLevel(of);
}

void SideScene::addLevel(const CanvasLevel& of) {
  CanvasLevel& mine = *m_mine[&of];
  const UnionLevel& level = levelOf(of);
  const std::vector<NodeId>& nodeOf = m_ofA ? level.nodeOfA : level.nodeOfB;
  const std::vector<ValueId>& valueOf = m_ofA ? level.valueOfA : level.valueOfB;
  const auto there = [&](int item) {
    if (item >= 0) m_isThere[std::size_t(item)] = 1;
    return item;
  };
  for (const NodeId node : mine.graph().order()) {
    const NodeId inUnion = nodeOf[node.index];
    if (!inUnion.valid()) continue;
    mine.itemOfNode[node.index] = there(of.itemOfNode[inUnion.index]);
    const auto holder = of.holders.find(inUnion.index);
    if (holder == of.holders.end()) continue;
    CanvasLevel::Holder& held = mine.holders[node.index];
    held.box = there(holder->second.box);
    held.condition = there(holder->second.condition);
    for (const CoverBody& body : mine.cover.bodies) {
      if (body.holder != node) continue;
      for (const CanvasLevel* inner : holder->second.bodies) {
        const auto known = m_mine.find(inner);
        if (known == m_mine.end() || &known->second->cover != body.cover.get()) continue;
        held.bodies.push_back(known->second);
        held.graphs.push_back(&std::get<Subgraph>(mine.graph().node(node).attributes.at(body.attribute)));
      }
    }
  }
  for (const ValueId input : mine.graph().inputs()) {
    const ValueId inUnion = valueOf[input.index];
    const auto item = inUnion.valid() ? of.itemOfInput.find(inUnion.index) : of.itemOfInput.end();
    if (item != of.itemOfInput.end()) mine.itemOfInput[input.index] = there(item->second);
  }
  for (const ValueId output : mine.graph().outputs()) {
    const auto item = std::ranges::find(of.outputs, valueOf[output.index], &std::pair<ValueId, int>::first);
    if (item != of.outputs.end()) mine.outputs.emplace_back(output, there(item->second));
  }
  addNodes(mine, level);
}

void SideScene::addNodes(const CanvasLevel& mine, const UnionLevel& level) {
  std::map<std::uint32_t, std::vector<int>> drawn;
  for (const NodeId node : mine.graph().order()) {
    const int item = mine.itemOfNode[node.index];
    if (item < 0 || m_built.scene.items[std::size_t(item)].kind != ItemKind::Node) continue;
    const int kernel = mine.parts.fusedOfNode[node.index];
    const FusedNode* fused = kernel < 0 ? nullptr : &mine.cover.fusedNodes[std::size_t(kernel)];
    m_items.emplace(item, mine.items.node(mine.graph().node(node), m_built.scene.items[std::size_t(item)].name, fused));
    if (kernel >= 0) drawn[std::uint32_t(kernel)].push_back(item);
  }
  for (auto& [kernel, items] : drawn) m_drawn.push_back({&level, kernel, std::move(items)});
}

// A closed group shows the properties of its first kernel on this side. If nothing differs, it has only one kernel.
void SideScene::addGroups(const BuiltCanvas& built) {
  for (std::size_t i = 0; i < built.fusedAt.size(); ++i) {
    const BuiltCanvas::FusedAt& at = built.fusedAt[i];
    if (at.level == nullptr) continue;
    const UnionLevel& level = levelOf(*at.level);
    const std::vector<std::uint32_t>& kernels = kernelsOf(level.groups[std::size_t(at.index)]);
    const auto mine = m_mine.find(at.level);
    if (mine == m_mine.end() || kernels.empty()) continue;
    m_isThere[i] = 1;
    const CanvasItem& item = built.scene.items[i];
    if (item.open && kernels.size() > 1) continue;
    const FusedNode& fused = mine->second->cover.fusedNodes[kernels.front()];
    CanvasItem own = mine->second->items.fused(fused, item.name, item.key, std::size_t(item.nodes));
    own.timeKey = mine->second->items.handleOf(fused);
    m_items.emplace(int(i), std::move(own));
  }
}

// Adds the properties of blocks on this side. For a block that this side does not have, the properties in the union are
// shown.
void SideScene::addBlocks(const CanvasLevel& of) {
  const auto mine = m_mine.find(&of);
  if (mine == m_mine.end()) return;
  const LevelParts &parts = of.parts, &own = mine->second->parts;
  const std::vector<int>& items = m_built.scene.levels[of.place].ofBlock;
  for (std::size_t b = 0; b < items.size(); ++b) {
    const CanvasItem& item = m_built.scene.items[std::size_t(items[b])];
    if (item.key != parts.blockHandles[b]) continue;  // the block is inside of a closed one
    const auto found = std::ranges::find(own.blockHandles, item.key);
    if (found == own.blockHandles.end()) continue;
    CanvasItem said = blockItem(own, std::size_t(found - own.blockHandles.begin()));
    said.container = item.container;
    said.open = item.open;
    own.items.size(said);
    m_items.emplace(items[b], std::move(said));
  }
}

std::vector<const CanvasEdge*> SideScene::edges(const CanvasScene& scene) {
  // connect() writes the names of shared inputs into the items, which contain them already.
  SharedVector<CanvasItem> scratch = scene.items;
  CanvasWires wires(scratch);
  for (const CanvasLevel& level : m_levels) wires.connect(level);
  m_wires = std::move(wires.edges());
  std::unordered_map<std::uint64_t, const CanvasEdge*> known;
  const auto key = [](const CanvasEdge& edge) { return std::uint64_t(edge.from) << 32U | std::uint32_t(edge.to); };
  for (const CanvasEdge& edge : m_wires) known[key(edge)] = &edge;
  std::vector<const CanvasEdge*> found;
  found.reserve(scene.edges.size());
  for (const CanvasEdge& edge : scene.edges) {
    const auto own = known.find(key(edge));
    found.push_back(own == known.end() ? nullptr : own->second);
  }
  return found;
}

}  // namespace fusescope
