#include "ui/canvas/canvas_builder.h"

#include <algorithm>

#include "planning/fused_node_facts.h"
#include "ui/document/qt_text.h"

namespace fusescope {
namespace {

constexpr std::size_t kFewFusedNodes = 12;  // with no more of them, control flow is open at first

class Builder {
 public:
  Builder(const Cover& cover, const OpenState& open, const CanvasFonts& fonts,
          std::shared_ptr<const ModuleTree> modules)
      : m_open(open), m_fonts(fonts) {
    const int nodes = int(cover.graph().nodeCount());
    m_scene.byName.reserve(2 * nodes);
    m_scene.fusedOf.reserve(2 * nodes);
    m_scene.byKey.reserve(nodes);
    addLevel(cover, {}, -1, std::move(modules), {});
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

  CanvasLevel& addLevel(const Cover& cover, const BodyPath& path, int container,
                        std::shared_ptr<const ModuleTree> modules, const QString& within) {
    CanvasLevel& level = m_levels.emplace_back(cover, path, m_fonts, std::move(modules));
    Around around{.item = std::vector<int>(level.itemOfNode.size(), container),
                  .handle = std::vector<QString>(level.itemOfNode.size(), within)};
    for (const ContainerKind* kind : containerKinds()) addContainers(level, *kind, around);
    for (auto& [node, holder] : level.holders) addCondition(level, level.graph().node(NodeId(node)), holder);
    for (const NodeId id : level.graph().order())
      if (!level.holders.contains(id.index)) addNode(level, level.graph().node(id), around.item[id.index]);
    addPills(level, container);
    return level;
  }

  /// By node: the innermost container so far.
  struct Around {
    std::vector<int> item;        ///< that is drawn for it
    std::vector<QString> handle;  ///< of the innermost that can be opened, be it drawn or not; empty: none
  };

  /// Those of one kind, in the containers of the kinds before.
  void addContainers(CanvasLevel& level, const ContainerKind& kind, Around& around) {
    std::vector<bool> taken(around.item.size(), false);
    std::vector<NodeId> own;
    for (std::size_t part = 0; part < kind.count(level); ++part) {
      own.clear();
      for (const NodeId node : kind.nodes(level, part)) {
        const bool free = level.graph().has(node) && (kind.body != nullptr || kind.nests || !taken[node.index]);
        if (!free) continue;  // coverings may name a node twice
        taken[node.index] = true;
        own.push_back(node);
      }
      if (own.empty()) continue;
      const int parent = aroundAll(own, around.item);
      const QString within = around.handle[own.front().index];
      const Container added = addContainer(level, kind, part, parent, within);
      if (isClosed(parent) && std::size_t(parent) < m_fusedAt.size())
        m_fusedAt[std::size_t(parent)].hidesContainers = true;
      if (kind.body != nullptr && !isClosed(parent)) {
        addBody(level, *kind.body(level, part), parent, added.item, within);
      } else if (kind.body == nullptr) {
        for (const NodeId node : own) around.item[node.index] = added.item;
        if (added.canOpen)
          for (const NodeId node : own) around.handle[node.index] = added.handle;
      }
    }
  }

  int aroundAll(const std::vector<NodeId>& nodes, const std::vector<int>& around) const {
    int all = around[nodes.front().index];
    for (const NodeId node : nodes)
      while (all >= 0 && !m_scene.isInside(around[node.index], all)) all = at(all).parent;
    return all;
  }

  struct Container {
    int item;  ///< that is drawn for it: if the one around it is closed, that one
    QString handle;
    bool canOpen;
  };
  Container addContainer(CanvasLevel& level, const ContainerKind& kind, std::size_t part, int parent,
                         const QString& within) {
    const bool hidden = isClosed(parent);
    CanvasItem item = hidden && kind.brief != nullptr ? kind.brief(level, part) : kind.item(level, part);
    item.container = &kind;
    item.open = (item.canOpen || kind.turnedKey.empty()) && m_open.isOpen(kind, item.handle());
    if (!hidden) level.items.size(item);
    const QString name = item.name, handle = item.handle();
    const bool canOpen = item.canOpen;
    if (canOpen || kind.knownByKey) m_scene.openable.insert(handle, {&kind, within, canOpen});
    const int box = hidden ? parent : add(std::move(item), parent);
    if (!kind.knownByKey && box == parent && !m_scene.byName.contains(name)) m_scene.byName.insert(name, box);
    if (kind.knownByKey) {
      if (!m_scene.byKey.contains(handle)) m_scene.byKey.insert(handle, box);
      m_scene.fusedOf.insert(handle, handle);
    }
    if (&kind == &fusedContainers()) {
      m_scene.byName.insert(name, box);
      if (!m_scene.fusedOf.contains(name)) m_scene.fusedOf.insert(name, handle);
      if (box != parent) {
        m_fusedAt.resize(std::size_t(box) + 1);
        m_fusedAt.back() = {.level = &level, .index = int(part)};
      }
    }
    return {box, handle, canOpen};
  }

  void addNode(CanvasLevel& level, const Node& node, int container) {
    const int fused = level.fusedOfNode[node.id.index];
    const QString& name = level.names[node.id.index];
    if (!isClosed(container)) {
      const FusedNode* in = fused < 0 ? nullptr : &level.cover.fusedNodes[std::size_t(fused)];
      level.itemOfNode[node.id.index] = add(level.items.node(node, name, in), container);
      return;
    }
    level.itemOfNode[node.id.index] = container;
    if (!level.cover.bodies.empty() && fused >= 0)
      addClosedBodies(level.cover, node.id, level.items.path(), container, level.handles[std::size_t(fused)]);
  }

  /// What is in the bodies of `node`, which are closed: found by name, `item` stands for it, and opening it opens
  /// `handle`. `around`: the body that `cover` is of.
  void addClosedBodies(const Cover& cover, NodeId node, const BodyPath& around, int item, const QString& handle) {
    for (const CoverBody& body : cover.bodies) {
      if (body.holder != node) continue;
      const BodyPath path = around.into(cover.graph().node(node), body.attribute);
      for (const NodeId id : body.cover->graph().order()) {
        const Node& inner = body.cover->graph().node(id);
        const QString name = qs(path.of(inner.name));
        m_scene.byName.insert(name, item);
        m_scene.fusedOf.insert(name, handle);
        m_closed.push_back({name, inner.op, item});
        addClosedBodies(*body.cover, id, path, item, handle);
      }
      for (const FusedNode& fused : body.cover->fusedNodes) {
        const QString key = qs(path.exactly(handleOf(fused)));
        m_scene.byName.insert(key, item);
        m_scene.fusedOf.insert(key, handle);
      }
    }
  }

  /// In `container`, which stands in `box` in place of the node.
  void addBody(CanvasLevel& level, const CoverBody& body, int box, int container, const QString& within) {
    const Node& node = level.graph().node(body.holder);
    CanvasLevel::Holder& holder = level.holders[node.id.index];
    holder.box = box;
    auto modules = level.modules == nullptr ? nullptr : level.modules->body(body.holder, body.attribute);
    holder.bodies.push_back(
        &addLevel(*body.cover, level.items.path().into(node, body.attribute), container, std::move(modules), within));
    holder.graphs.push_back(&std::get<Subgraph>(node.attributes.at(body.attribute)));
  }

  /// What an If asks.
  void addCondition(const CanvasLevel& level, const Node& node, CanvasLevel::Holder& holder) {
    if (!node.is("If") || !node.input(0).valid() || level.graph().isConstant(node.input(0))) return;
    CanvasItem condition = level.items.pill(node.input(0), ItemKind::Input, QStringLiteral("condition"));
    condition.key = "c:" + level.items.nameOf(node.name);
    holder.condition = add(std::move(condition), holder.box);
  }

  void addPills(CanvasLevel& level, int container) {
    const auto pill = [&](ValueId id, ItemKind kind) {
      const int item = add(level.items.pill(id, kind, QString()), container);
      if (!m_scene.byName.contains(at(item).name)) m_scene.byName.insert(at(item).name, item);
      return item;
    };
    for (const ValueId id : level.graph().inputs()) level.itemOfInput[id.index] = pill(id, ItemKind::Input);
    for (const ValueId id : level.graph().outputs()) level.outputs.emplace_back(id, pill(id, ItemKind::Output));
  }

  void connect() {
    CanvasWires wires(m_scene.items);
    wires.reserve(m_scene.items.size());
    for (const CanvasLevel& level : m_levels) wires.connect(level);
    for (CanvasEdge& edge : wires.edges()) {
      ++m_scene.items.edit(std::size_t(edge.from)).edgesOut;
      ++m_scene.items.edit(std::size_t(edge.to)).edgesIn;
      m_scene.edges.push_back(std::move(edge));
    }
  }

  void finish() {
    CanvasScene& scene = m_scene;
    m_fusedAt.resize(scene.items.size());
    for (std::size_t i = 0; i < scene.items.size(); ++i) {
      const CanvasItem& item = scene.items[i];
      scene.byKey.insert(item.key, int(i));
      if (item.container != nullptr && !item.container->knownByKey) scene.byName.insert(item.name, int(i));
      if (item.isBox()) ++scene.boxes;
      if (item.kind == ItemKind::Input || item.kind == ItemKind::Output) {
        addEntry(item.name, item.detail.toStdString(), int(i));
      }
    }
    for (CanvasLevel& level : m_levels) {
      level.firstEntry = scene.entries.size();
      for (const NodeId id : level.graph().order()) addEntry(level, level.graph().node(id));
      addModules(level);
    }
    for (const Closed& closed : m_closed) addEntry(closed.name, closed.op, closed.item);
    m_searchText.shrink_to_fit();
    scene.searchText = std::make_shared<const std::string>(std::move(m_searchText));
  }

  /// Modules that are no block, or several: what is drawn of the first node.
  void addModules(const CanvasLevel& level) {
    if (level.blocks.tree() == nullptr) return;
    for (const Module& module : level.blocks.tree()->modules) {
      const QString handle = qs(level.items.path().exactly(kModulePrefix + module.path));
      const NodeId first = module.nodes.front();
      if (m_scene.byKey.contains(handle)) continue;
      m_scene.byName.insert(handle, level.itemOfNode[first.index]);
      if (const int fused = level.fusedOfNode[first.index]; fused >= 0)
        m_scene.fusedOf.insert(handle, level.handles[std::size_t(fused)]);
    }
  }

  /// `more` is looked at by searches beside the name.
  void addEntry(const QString& name, const std::string& more, int item) {
    const std::string all = name.toStdString() + '\n' + more;
    const bool ascii = std::all_of(all.begin(), all.end(), [](char c) { return static_cast<signed char>(c) >= 0; });
    const std::size_t begin = m_searchText.size();
    if (ascii) {
      for (const char c : all) m_searchText += c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
    } else {
      m_searchText += qs(all).toLower().toStdString();
    }
    m_scene.entries.push_back({name, item, begin, m_searchText.size()});
  }

  void addEntry(const CanvasLevel& level, const Node& node) {
    const auto holder = level.holders.find(node.id.index);
    const int item = holder == level.holders.end() ? level.itemOfNode[node.id.index] : holder->second.box;
    const QString& name = level.names[node.id.index];
    std::string more = node.op;
    for (const ValueId value : node.outputs) {
      if (!value.valid()) continue;
      const QString valueName = level.items.nameOf(level.graph().value(value).name);
      more += '\n' + valueName.toStdString();
      if (!m_scene.byName.contains(valueName)) m_scene.byName.insert(valueName, item);
    }
    for (const OriginId origin : node.origins) {
      const auto& origins = level.cover.model->origins;
      if (origin.index < origins.size()) more += '\n' + origins[origin.index].name;
    }
    const int fused = level.fusedOfNode[node.id.index];
    if (fused >= 0) {
      const FusedNode& holding = level.cover.fusedNodes[std::size_t(fused)];
      m_scene.fusedOf.insert(name, level.handles[std::size_t(fused)]);
      more += '\n' + holding.kind;
    }
    m_scene.byName.insert(name, item);
    addEntry(name, more, item);
  }

  const OpenState& m_open;
  const CanvasFonts& m_fonts;
  CanvasScene m_scene;
  std::string m_searchText;
  std::deque<CanvasLevel> m_levels;  ///< the network first; bodies before what holds other bodies of theirs is done
  std::vector<BuiltCanvas::FusedAt> m_fusedAt;
  struct Closed {
    QString name;
    std::string op;
    int item = -1;
  };
  std::vector<Closed> m_closed;  ///< what is in bodies that are not drawn
};

}  // namespace

OpenState openAtFirst(const Cover& cover) {
  OpenState open;
  if (cover.fusedNodes.size() > kFewFusedNodes) return open;
  for (const FusedNode& fused : cover.fusedNodes)
    if (holdsBodies(cover, fused)) open.set(fusedContainers(), qs(handleOf(fused)), true);
  return open;
}

OpenState allOpen(const CanvasScene& scene) {
  OpenState open;
  for (auto it = scene.openable.begin(); it != scene.openable.end(); ++it)
    if (it->canOpen) open.set(*it->kind, it.key(), true);
  return open;
}

BuiltCanvas buildCanvasWithLevels(const Cover& cover, const OpenState& open, const CanvasFonts& fonts,
                                  std::shared_ptr<const ModuleTree> modules) {
  return Builder(cover, open, fonts, std::move(modules)).build();
}

CanvasScene buildCanvas(const Cover& cover, const OpenState& open, const CanvasFonts& fonts,
                        std::shared_ptr<const ModuleTree> modules) {
  return Builder(cover, open, fonts, std::move(modules)).build().scene;
}

}  // namespace fusescope
