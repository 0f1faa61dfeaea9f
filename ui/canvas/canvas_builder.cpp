#include "ui/canvas/canvas_builder.h"

#include <algorithm>

#include "planning/fused_node_facts.h"
#include "ui/document/qt_text.h"

namespace fusescope {
namespace {

constexpr std::size_t kFewFusedNodes = 12;  // with no more of them, control flow is open at first

QString text(const std::string& s) {
  return QString::fromStdString(s);
}

class Builder {
 public:
  Builder(const Plan& plan, const OpenState& open, const CanvasFonts& fonts) : m_open(open), m_fonts(fonts) {
    const int nodes = int(plan.graph().nodeCount());
    m_scene.byName.reserve(2 * nodes);
    m_scene.fusedOf.reserve(2 * nodes);
    m_scene.byKey.reserve(nodes);
    addLevel(plan, QString(), -1);
  }

  BuiltCanvas build() {
    connect();
    finish();
    return {.scene = std::move(m_scene), .levels = std::move(m_levels), .fusedAt = std::move(m_fusedAt)};
  }

 private:
  int add(CanvasItem item, int parent) {
    item.parent = parent;
    if (parent >= 0) item.segment = m_scene.items[std::size_t(parent)].segment;
    m_scene.items.push_back(std::move(item));
    return int(m_scene.items.size()) - 1;
  }
  const CanvasItem& at(int item) const { return m_scene.items[std::size_t(item)]; }

  CanvasLevel& addLevel(const Plan& plan, const QString& prefix, int container) {
    CanvasLevel& level = m_levels.emplace_back(plan, prefix, m_fonts);
    const std::vector<int> containers = container < 0 ? addSegments(level) : std::vector<int>();
    for (std::size_t f = 0; f < plan.fusedNodes.size(); ++f) {
      const std::size_t segment = plan.fusedNodes[f].segment.index;
      addFused(level, f, segment < containers.size() ? containers[segment] : container);
    }
    for (const NodeId id : level.graph().order())  // plans that were read back need not hold every node
      if (level.itemOfNode[id.index] < 0 && !level.holders.contains(id.index))
        level.itemOfNode[id.index] =
            add(level.items.node(level.graph().node(id), level.names[id.index], nullptr), container);
    addPills(level, container);
    return level;
  }

  /// By segment; segments are containers in the network, not in bodies.
  std::vector<int> addSegments(CanvasLevel& level) {
    std::vector<int> containers;
    for (const Segment& segment : level.plan.segments) {
      const bool open = m_open.isOpen(ItemKind::Segment, text(segment.name)) && !segment.nodes.empty();
      containers.push_back(add(level.items.segment(segment, open), -1));
      m_scene.items.edit(std::size_t(containers.back())).segment = int(containers.size()) - 1;
      m_scene.openable.insert(at(containers.back()).handle(), {ItemKind::Segment, QString()});
    }
    return containers;
  }

  void addFused(CanvasLevel& level, std::size_t index, int container) {
    const FusedNode& fused = level.plan.fusedNodes[index];
    const bool hidden = container >= 0 && !at(container).open;
    const QString& handle = level.handles[index];
    const bool rootNames = level.graph().has(fused.root) && level.graph().node(fused.root).name == fused.name;
    const QString name = rootNames ? level.names[fused.root.index] : level.items.nameOf(fused.name);
    const int box = hidden ? container : add(level.items.fused(fused, name, handle, m_open), container);
    if (!hidden) {
      m_fusedAt.resize(std::size_t(box) + 1);
      m_fusedAt.back() = {&level, int(index)};
    }
    for (const NodeId node : fused.nodes) {
      if (!level.graph().has(node) || level.itemOfNode[node.index] >= 0) continue;  // coverings may name a node twice
      level.fusedOfNode[node.index] = int(index);
      if (!hidden && at(box).open && addBodies(level, node, box)) continue;
      const bool own = !hidden && at(box).open;
      if (!level.plan.bodies.empty()) addClosedBodies(level.plan, node, level.names[node.index] + "/", box, handle);
      level.itemOfNode[node.index] =
          own ? add(level.items.node(level.graph().node(node), level.names[node.index], &fused), box) : box;
    }
    m_scene.byName.insert(name, box);
    if (!m_scene.byKey.contains(handle)) m_scene.byKey.insert(handle, box);
    m_scene.fusedOf.insert(handle, handle);
    if (!m_scene.fusedOf.contains(name)) m_scene.fusedOf.insert(name, handle);
    if (fused.nodes.size() > 1 || holdsBodies(level.plan, fused))
      m_scene.openable.insert(handle, {ItemKind::Fused, openableAround(container)});
  }

  /// Handle of the innermost container that can be opened, from `container` outwards.
  QString openableAround(int container) {
    while (container >= 0 && !at(container).canOpen) container = at(container).parent;
    return container < 0 ? QString() : at(container).handle();
  }

  /// What is in the bodies of `node`, which are closed: found by name, `item` stands for it, and opening it opens
  /// `handle`.
  void addClosedBodies(const Plan& plan, NodeId node, const QString& prefix, int item, const QString& handle) {
    for (const PlannedBody& body : plan.bodies) {
      if (body.holder != node) continue;
      for (const NodeId id : body.plan->graph().order()) {
        const Node& inner = body.plan->graph().node(id);
        const QString name = prefix + text(inner.name);
        m_scene.byName.insert(name, item);
        m_scene.fusedOf.insert(name, handle);
        m_closed.push_back({name, inner.op, item});
        addClosedBodies(*body.plan, id, name + "/", item, handle);
      }
      for (const FusedNode& fused : body.plan->fusedNodes) {
        const QString key = prefix + text(handleOf(fused));
        m_scene.byName.insert(key, item);
        m_scene.fusedOf.insert(key, handle);
      }
    }
  }

  /// The bodies of `node` as containers in `box`; false if it has none.
  bool addBodies(CanvasLevel& level, NodeId node, int box) {
    CanvasLevel::Holder holder{.box = box};
    for (const PlannedBody& body : level.plan.bodies) {
      if (body.holder != node) continue;
      const int container = add(level.items.body(bodyTitle(body.attribute), body), box);
      const QString prefix = level.items.nameOf(level.graph().node(node).name) + "/";
      holder.bodies.push_back(&addLevel(*body.plan, prefix, container));
      holder.graphs.push_back(&std::get<Subgraph>(level.graph().node(node).attributes.at(body.attribute)));
    }
    if (holder.bodies.empty()) return false;
    const Node& holding = level.graph().node(node);
    if (holding.is("If") && holding.input(0).valid() && !level.graph().isConstant(holding.input(0))) {
      CanvasItem condition = level.items.pill(holding.input(0), ItemKind::Input, QStringLiteral("condition"));
      condition.key = "c:" + level.items.nameOf(holding.name);
      holder.condition = add(std::move(condition), box);
    }
    level.holders.emplace(node.index, std::move(holder));
    return true;
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
      if (const ContainerKind* kind = containerKind(item.kind); kind != nullptr && !kind->knownByKey)
        scene.byName.insert(item.name, int(i));
      if (item.isBox()) ++scene.boxes;
      scene.slowestPredictedMs = std::max(scene.slowestPredictedMs, item.predictedMs.value_or(0));
      if (item.kind == ItemKind::Input || item.kind == ItemKind::Output) {
        addEntry(item.name, item.detail.toStdString(), int(i));
      }
    }
    for (CanvasLevel& level : m_levels) {
      level.firstEntry = scene.entries.size();
      for (const NodeId id : level.graph().order()) addEntry(level, level.graph().node(id));
    }
    for (const Closed& closed : m_closed) addEntry(closed.name, closed.op, closed.item);
    m_searchText.shrink_to_fit();
    scene.searchText = std::make_shared<const std::string>(std::move(m_searchText));
  }

  /// `more` is looked at by searches beside the name.
  void addEntry(const QString& name, const std::string& more, int item) {
    const std::string all = name.toStdString() + '\n' + more;
    const bool ascii = std::all_of(all.begin(), all.end(), [](char c) { return static_cast<signed char>(c) >= 0; });
    const std::size_t begin = m_searchText.size();
    if (ascii) {
      for (const char c : all) m_searchText += c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
    } else {
      m_searchText += text(all).toLower().toStdString();
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
      const auto& origins = level.plan.model->origins;
      if (origin.index < origins.size()) more += '\n' + origins[origin.index].name;
    }
    const int fused = level.fusedOfNode[node.id.index];
    if (fused >= 0) {
      const FusedNode& holding = level.plan.fusedNodes[std::size_t(fused)];
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

OpenState openAtFirst(const Plan& plan) {
  OpenState open;
  if (plan.fusedNodes.size() > kFewFusedNodes) return open;
  for (const FusedNode& fused : plan.fusedNodes)
    if (holdsBodies(plan, fused)) open.set(ItemKind::Fused, text(handleOf(fused)), true);
  return open;
}

OpenState allOpen(const CanvasScene& scene) {
  OpenState open;
  for (auto it = scene.openable.begin(); it != scene.openable.end(); ++it) open.set(it->kind, it.key(), true);
  return open;
}

BuiltCanvas buildCanvasWithLevels(const Plan& plan, const OpenState& open, const CanvasFonts& fonts) {
  return Builder(plan, open, fonts).build();
}

CanvasScene buildCanvas(const Plan& plan, const OpenState& open, const CanvasFonts& fonts) {
  return Builder(plan, open, fonts).build().scene;
}

}  // namespace fusescope
