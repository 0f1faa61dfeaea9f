#include "ui/canvas/canvas_builder.h"

#include <algorithm>

#include "planning/fused_node_facts.h"
#include "ui/document/qt_text.h"

namespace fusescope {
namespace {

// If there are no more than this, containers of control flow are open at first.
constexpr std::size_t kFewFusedNodes = 12;

class Builder {
 public:
  Builder(std::shared_ptr<const CoverParts> parts, const OpenState& open) : m_parts(*parts), m_open(open) {
    m_scene.parts = std::move(parts);
    m_scene.levels.resize(m_parts.levels().size());
    addLevel(0, -1);
  }

  BuiltCanvas build() {
    connect();
    finish();
    return {.scene = std::move(m_scene), .levels = std::move(m_levels), .fusedAt = std::move(m_fusedAt)};
  }

 private:
  int add(CanvasItem item, int parent) {
    item.parent = parent;
    if (item.segment < 0 && parent >= 0) item.segment = at(parent).segment;
    m_scene.items.push_back(std::move(item));
    return int(m_scene.items.size()) - 1;
  }
  const CanvasItem& at(int item) const { return m_scene.items[std::size_t(item)]; }
  bool isClosed(int item) const { return item >= 0 && !at(item).open; }

  CanvasLevel& addLevel(int place, int container) {
    const LevelParts& parts = *m_parts.levels()[std::size_t(place)].parts;
    CanvasLevel& level = m_levels.emplace_back(parts, std::size_t(place));
    LevelItems& items = itemsOf(level);
    items.isDrawn = true;
    items.ofFused.resize(parts.cover.fusedNodes.size(), -1);
    items.ofBlock.resize(parts.blocks.all().size(), -1);
    std::vector<int> around(level.itemOfNode.size(), container);
    for (const ContainerKind* kind : containerKinds()) addContainers(level, *kind, around);
    for (auto& [node, holder] : level.holders) addCondition(level, level.graph().node(NodeId(node)), holder);
    for (const NodeId id : level.graph().order())
      if (!level.holders.contains(id.index)) addNode(level, level.graph().node(id), around[id.index]);
    addPills(level, container);
    return level;
  }
  LevelItems& itemsOf(const CanvasLevel& level) { return m_scene.levels[level.place]; }

  /// Adds the containers of one kind inside those of the kinds before it. `around` contains, for each node, the
  /// innermost container that has been added for it.
  void addContainers(CanvasLevel& level, const ContainerKind& kind, std::vector<int>& around) {
    std::vector<bool> taken(around.size(), false);
    std::vector<NodeId> own;
    for (std::size_t part = 0; part < kind.count(level.parts); ++part) {
      kind.nodes(level.parts, part, own);
      const bool shares = kind.body != nullptr || kind.nests;
      std::erase_if(own, [&](NodeId node) { return !level.graph().has(node) || (!shares && taken[node.index]); });
      if (own.empty()) continue;
      for (const NodeId node : own) taken[node.index] = true;
      const int parent = aroundAll(own, around);
      if (isClosed(parent)) {
        addHidden(level, kind, part, parent);
        continue;
      }
      const int item = addContainer(level, kind, part, parent);
      if (kind.body != nullptr) {
        addBody(level, *kind.body(level.parts, part), parent, item);
      } else {
        for (const NodeId node : own) around[node.index] = item;
      }
    }
  }

  int aroundAll(const std::vector<NodeId>& nodes, const std::vector<int>& around) const {
    int all = around[nodes.front().index];
    for (const NodeId node : nodes)
      while (all >= 0 && !m_scene.isInside(around[node.index], all)) all = at(all).parent;
    return all;
  }

  int* placeOf(const CanvasLevel& level, const ContainerKind& kind, std::size_t part) {
    LevelItems& items = itemsOf(level);
    if (&kind == &fusedContainers()) return &items.ofFused[part];
    return &kind == &moduleContainers() ? &items.ofBlock[part] : nullptr;
  }

  /// Registers a part that is not drawn because it is in a closed container; that container represents it.
  void addHidden(const CanvasLevel& level, const ContainerKind& kind, std::size_t part, int parent) {
    if (std::size_t(parent) < m_fusedAt.size()) m_fusedAt[std::size_t(parent)].hidesContainers = true;
    if (int* place = placeOf(level, kind, part)) {
      *place = parent;
      return;
    }
    const QString name = kind.item(level.parts, part).name;
    if (!m_scene.byName.contains(name)) m_scene.byName.insert(name, parent);
  }

  int addContainer(CanvasLevel& level, const ContainerKind& kind, std::size_t part, int parent) {
    CanvasItem item = kind.item(level.parts, part);
    item.container = &kind;
    item.open = (item.canOpen || kind.turnedKey.empty()) && m_open.isOpen(kind, item.handle());
    level.items.size(item);
    const int box = add(std::move(item), parent);
    if (int* place = placeOf(level, kind, part)) *place = box;
    if (&kind == &fusedContainers()) {
      m_fusedAt.resize(std::size_t(box) + 1);
      m_fusedAt.back() = {.level = &level, .index = int(part)};
    }
    return box;
  }

  void addNode(CanvasLevel& level, const Node& node, int container) {
    int& item = level.itemOfNode[node.id.index];
    item = container;
    if (isClosed(container)) return;
    const int fused = level.parts.fusedOfNode[node.id.index];
    const FusedNode* in = fused < 0 ? nullptr : &level.cover.fusedNodes[std::size_t(fused)];
    item = add(level.items.node(node, level.parts.nameOf(node), in), container);
  }

  /// Adds the level of a body inside `container`, which is in `box`, the item that replaces the holder.
  void addBody(CanvasLevel& level, const CoverBody& body, int box, int container) {
    const Node& node = level.graph().node(body.holder);
    CanvasLevel::Holder& holder = level.holders[node.id.index];
    holder.box = box;
    holder.bodies.push_back(&addLevel(m_parts.levelOf(int(level.place), body.holder, body.attribute), container));
    holder.graphs.push_back(&std::get<Subgraph>(node.attributes.at(body.attribute)));
  }

  /// Adds an item for the condition of an If.
  void addCondition(const CanvasLevel& level, const Node& node, CanvasLevel::Holder& holder) {
    if (!node.is("If") || !node.input(0).valid() || level.graph().isConstant(node.input(0))) return;
    CanvasItem condition = level.items.pill(node.input(0), ItemKind::Input, QStringLiteral("condition"));
    condition.key = "c:" + level.items.nameOf(node.name);
    holder.condition = add(std::move(condition), holder.box);
  }

  void addPills(CanvasLevel& level, int container) {
    const auto pill = [&](ValueId id, ItemKind kind) {
      const int item = add(level.items.pill(id, kind, QString()), container);
      itemsOf(level).ofPill.push_back(item);
      return item;
    };
    for (const ValueId id : level.graph().inputs()) level.itemOfInput[id.index] = pill(id, ItemKind::Input);
    for (const ValueId id : level.graph().outputs()) level.outputs.emplace_back(id, pill(id, ItemKind::Output));
  }

  void connect() {
    CanvasWires wires(m_scene.items);
    for (const CanvasLevel& level : m_levels) wires.connect(level);
    for (CanvasEdge& edge : wires.edges()) {
      ++m_scene.items.edit(std::size_t(edge.from)).edgesOut;
      ++m_scene.items.edit(std::size_t(edge.to)).edgesIn;
      m_scene.edges.push_back(std::move(edge));
    }
  }

  void finish() {
    m_fusedAt.resize(m_scene.items.size());
    for (std::size_t i = 0; i < m_scene.items.size(); ++i) {
      const CanvasItem& item = m_scene.items[i];
      if (item.isBox()) ++m_scene.boxes;
      const bool isInParts = item.kind == ItemKind::Node || (item.container != nullptr && item.container->knownByKey);
      if (isInParts) continue;
      m_scene.byKey.insert(item.key, int(i));
      if (item.container != nullptr) m_scene.byName.insert(item.name, int(i));
    }
    for (const CanvasLevel& level : m_levels) {
      LevelItems& items = itemsOf(level);
      items.ofNode = level.itemOfNode;
      for (const auto& [node, holder] : level.holders) items.ofNode[node] = holder.box;
    }
    for (std::size_t l = 1; l < m_scene.levels.size(); ++l) {  // a level comes after the level around it
      LevelItems& items = m_scene.levels[l];
      if (items.isDrawn) continue;
      const CoverParts::Level& of = m_parts.levels()[l];
      const LevelItems& outer = m_scene.levels[std::size_t(of.around)];
      items.closedIn = outer.isDrawn ? outer.ofNode[of.holder.index] : outer.closedIn;
    }
  }

  const CoverParts& m_parts;
  const OpenState& m_open;
  CanvasScene m_scene;
  /// The network comes first; the bodies in a body are added after all bodies of the level around it.
  std::deque<CanvasLevel> m_levels;
  std::vector<BuiltCanvas::FusedAt> m_fusedAt;
};

}  // namespace

OpenState openAtFirst(const Cover& cover) {
  OpenState open;
  if (cover.fusedNodes.size() > kFewFusedNodes) return open;
  for (const FusedNode& fused : cover.fusedNodes)
    if (containsBodies(cover, fused)) open.set(fusedContainers(), qs(handleOf(fused)), true);
  return open;
}

OpenState allOpen(const CanvasScene& scene) {
  OpenState open;
  for (const QString& handle : scene.openable()) open.set(*scene.container(handle)->kind, handle, true);
  return open;
}

BuiltCanvas buildCanvasWithLevels(std::shared_ptr<const CoverParts> parts, const OpenState& open) {
  return Builder(std::move(parts), open).build();
}

CanvasScene buildCanvas(std::shared_ptr<const CoverParts> parts, const OpenState& open) {
  return Builder(std::move(parts), open).build().scene;
}

CanvasScene buildCanvas(const Cover& cover, const OpenState& open, const CanvasFonts& fonts,
                        std::shared_ptr<const ModuleTree> modules) {
  const std::shared_ptr<const Cover> shared(std::shared_ptr<const void>(), &cover);
  return buildCanvas(std::make_shared<const CoverParts>(shared, fonts, std::move(modules)), open);
}

}  // namespace fusescope
