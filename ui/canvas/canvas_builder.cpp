#include "ui/canvas/canvas_builder.h"

#include <algorithm>
#include <deque>
#include <map>
#include <unordered_map>

#include "planning/fused_node_facts.h"
#include "ui/canvas/canvas_items.h"
#include "ui/document/qt_text.h"

namespace fusescope {
namespace {

constexpr int kStubsOfInput = 6;            // readers of an input of the network, above which it is drawn as stubs
constexpr int kStubsOfValue = 16;           // readers of any other value
constexpr std::size_t kFewFusedNodes = 12;  // with no more of them, control flow is open at first

QString text(const std::string& s) {
  return QString::fromStdString(s);
}

/// The plan of the network, or of a body that is open, and which items stand for what of it.
struct Level {
  Level(const Plan& of, const QString& prefix, const CanvasFonts& fonts)
      : plan(of),
        items(of, prefix, fonts),
        itemOfNode(of.graph().nodeIdLimit(), -1),
        fusedOfNode(of.graph().nodeIdLimit(), -1),
        names(of.graph().nodeIdLimit()) {
    for (const NodeId id : graph().order()) names[id.index] = items.nameOf(graph().node(id).name);
    for (const FusedNode& fused : of.fusedNodes) handles.push_back(items.handleOf(fused));
  }

  const Plan& plan;
  CanvasItems items;
  std::vector<int> itemOfNode, fusedOfNode;  ///< by node
  std::vector<QString> names, handles;       ///< by node, by fused node: whatever says them shares them
  std::map<std::uint32_t, int> itemOfInput;  ///< by value
  std::vector<std::pair<ValueId, int>> outputs;
  /// A node whose bodies are open in `box`; `condition`: the pill of what an If asks, or -1.
  struct Holder {
    int box = -1, condition = -1;
    std::vector<const Level*> bodies;
    std::vector<const Subgraph*> graphs;
  };
  std::map<std::uint32_t, Holder> holders;

  const Graph& graph() const { return plan.graph(); }
};

class Builder {
 public:
  Builder(const Plan& plan, const OpenState& open, const CanvasFonts& fonts) : m_open(open), m_fonts(fonts) {
    const int nodes = int(plan.graph().nodeCount());
    m_scene.byName.reserve(2 * nodes);
    m_scene.fusedOf.reserve(2 * nodes);
    m_scene.byKey.reserve(nodes);
    m_scene.entries.reserve(std::size_t(nodes));
    m_edgeOf.reserve(std::size_t(nodes));
    addLevel(plan, QString(), -1);
  }

  CanvasScene build() {
    for (Level& level : m_levels) connect(level);
    finish();
    return std::move(m_scene);
  }

 private:
  int add(CanvasItem item, int parent) {
    item.parent = parent;
    if (parent >= 0) item.segment = m_scene.items[std::size_t(parent)].segment;
    m_scene.items.push_back(std::move(item));
    return int(m_scene.items.size()) - 1;
  }
  CanvasItem& at(int item) { return m_scene.items[std::size_t(item)]; }

  Level& addLevel(const Plan& plan, const QString& prefix, int container) {
    Level& level = m_levels.emplace_back(plan, prefix, m_fonts);
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
  std::vector<int> addSegments(Level& level) {
    std::vector<int> containers;
    for (const Segment& segment : level.plan.segments) {
      const bool open = !m_open.closedSegments.contains(text(segment.name)) && !segment.nodes.empty();
      containers.push_back(add(level.items.segment(segment, open), -1));
      at(containers.back()).segment = int(containers.size()) - 1;
    }
    return containers;
  }

  void addFused(Level& level, std::size_t index, int container) {
    const FusedNode& fused = level.plan.fusedNodes[index];
    const bool hidden = container >= 0 && !at(container).open;
    const QString& handle = level.handles[index];
    const bool rootNames = level.graph().has(fused.root) && level.graph().node(fused.root).name == fused.name;
    const QString name = rootNames ? level.names[fused.root.index] : level.items.nameOf(fused.name);
    const int box = hidden ? container : add(level.items.fused(fused, name, handle, m_open), container);
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
    if (fused.nodes.size() > 1 || holdsBodies(level.plan, fused)) m_scene.openable.insert(handle);
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
  bool addBodies(Level& level, NodeId node, int box) {
    Level::Holder holder{.box = box};
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

  void addPills(Level& level, int container) {
    const auto pill = [&](ValueId id, ItemKind kind) {
      const int item = add(level.items.pill(id, kind, QString()), container);
      if (!m_scene.byName.contains(at(item).name)) m_scene.byName.insert(at(item).name, item);
      return item;
    };
    for (const ValueId id : level.graph().inputs()) level.itemOfInput[id.index] = pill(id, ItemKind::Input);
    for (const ValueId id : level.graph().outputs()) level.outputs.emplace_back(id, pill(id, ItemKind::Output));
  }

  /// Who reads a value: an item, and the fused node that it stands for or is in.
  struct Use {
    int item;
    FusedNodeId fused;
  };

  // An edge between the items that stand for producer and reader, for every value that passes between two of them.
  void connect(Level& level) {
    const Graph& graph = level.graph();
    std::vector<std::vector<Use>> usesOf(graph.valueIdLimit());
    std::vector<ValueId> inOrder;
    const auto use = [&](ValueId value, int item, NodeId reader) {
      if (!value.valid() || !graph.has(value) || graph.isConstant(value)) return;
      std::vector<Use>& uses = usesOf[value.index];
      if (uses.empty()) inOrder.push_back(value);
      const int fused = level.fusedOfNode[reader.index];
      const bool known = std::any_of(uses.begin(), uses.end(), [&](const Use& other) { return other.item == item; });
      if (!known) uses.push_back({item, fused < 0 ? FusedNodeId() : level.plan.fusedNodes[std::size_t(fused)].id});
    };
    for (const NodeId id : graph.order()) {
      const Node& node = graph.node(id);
      if (!level.holders.contains(id.index)) {
        for (const ValueId value : node.inputs) use(value, level.itemOfNode[id.index], id);
      } else {
        for (std::size_t i = 0; i < node.inputs.size(); ++i)
          for (const int item : takersOf(level, node, i)) use(node.inputs[i], item, id);
      }
      useCaptures(level, node, use);
    }
    for (const ValueId value : inOrder) addEdges(level, value, usesOf[value.index]);
    for (const auto& [value, item] : level.outputs)
      for (const int source : sourcesOf(level, value))
        addEdge(level, source, item, value, level.items.castTo(value, FusedNodeId()));
  }

  /// What operand `i` of a node whose bodies are open is drawn to: what takes it in them.
  std::vector<int> takersOf(const Level& level, const Node& node, std::size_t i) const {
    const auto holder = level.holders.find(node.id.index);
    if (node.is("If")) return holder->second.condition < 0 ? std::vector<int>() : std::vector{holder->second.condition};
    std::vector<int> items;
    for (const Level* body : holder->second.bodies)
      if (i < body->graph().inputs().size()) items.push_back(body->itemOfInput.at(body->graph().inputs()[i].index));
    return items;
  }

  template <class UseFunction>
  void useCaptures(const Level& level, const Node& node, const UseFunction& use) const {
    const auto holder = level.holders.find(node.id.index);
    if (holder == level.holders.end()) {
      for (const auto& [key, attribute] : node.attributes)
        if (const Subgraph* body = std::get_if<Subgraph>(&attribute))
          for (const ValueId value : body->captures) use(value, level.itemOfNode[node.id.index], node.id);
      return;
    }
    for (std::size_t b = 0; b < holder->second.bodies.size(); ++b) {
      const Level& body = *holder->second.bodies[b];
      const std::vector<ValueId>& captures = holder->second.graphs[b]->captures;
      const std::vector<ValueId>& inputs = body.graph().inputs();
      for (std::size_t i = 0; i < captures.size() && captures.size() <= inputs.size(); ++i)
        use(captures[i], body.itemOfInput.at(inputs[inputs.size() - captures.size() + i].index), node.id);
    }
  }

  /// The items that a value comes from: one, or the results of bodies that are open.
  std::vector<int> sourcesOf(const Level& level, ValueId value) const {
    if (const auto input = level.itemOfInput.find(value.index); input != level.itemOfInput.end())
      return {input->second};
    const NodeId producer = level.graph().value(value).producer;
    if (!producer.valid()) return {};
    const auto holder = level.holders.find(producer.index);
    if (holder == level.holders.end()) return {level.itemOfNode[producer.index]};
    const Node& node = level.graph().node(producer);
    const auto place = std::size_t(std::find(node.outputs.begin(), node.outputs.end(), value) - node.outputs.begin());
    std::vector<int> items;
    for (const Level* body : holder->second.bodies) {
      const std::size_t result = place + (node.is("Loop") ? 1 : 0);  // behind whether to go on
      if (result < body->outputs.size()) items.push_back(body->outputs[result].second);
    }
    return items;
  }

  void addEdges(Level& level, ValueId value, const std::vector<Use>& uses) {
    const bool isInput = level.itemOfInput.contains(value.index);
    const bool stubs = uses.size() > std::size_t(isInput ? kStubsOfInput : kStubsOfValue);
    for (const int source : sourcesOf(level, value)) {
      bool first = true;
      for (const Use& reader : uses) {
        if (reader.item == source) continue;
        if (stubs && !first) {
          level.items.addStub(at(reader.item), value);
        } else {
          addEdge(level, source, reader.item, value,
                  reader.fused.valid() ? level.items.castTo(value, reader.fused) : nullptr);
        }
        first = false;
      }
    }
  }

  void addEdge(const Level& level, int from, int to, ValueId value, const PlannedCast* cast) {
    const auto [it, added] =
        m_edgeOf.try_emplace(std::uint64_t(from) << 32U | std::uint32_t(to), int(m_scene.edges.size()));
    if (added) m_scene.edges.push_back({.from = from, .to = to});
    CanvasEdge& edge = m_scene.edges[std::size_t(it->second)];
    const QString type = level.items.typeText(value);
    if (!added) edge.tooltip += QLatin1Char('\n');
    edge.tooltip += text(level.graph().value(value).name) + QLatin1String("  ") + type;
    if (added) edge.label = type;
    if (cast != nullptr) describeCast(edge, *cast);
  }

  static void describeCast(CanvasEdge& edge, const PlannedCast& cast) {
    const QString arrow =
        QString("%1\u2192%2").arg(text(std::string(name(cast.from))), text(std::string(name(cast.to))));
    edge.cast = arrow;
    edge.tooltip += "\ncast " + arrow;
    if (cast.bytes) edge.tooltip += QString(", %1 bytes moved").arg(qlonglong(*cast.bytes));
    edge.tooltip += ", because of: " + text(cast.reason).replace('_', ' ');
  }

  void finish() {
    CanvasScene& scene = m_scene;
    for (const CanvasEdge& edge : scene.edges) {
      ++at(edge.from).edgesOut;
      ++at(edge.to).edgesIn;
    }
    for (std::size_t i = 0; i < scene.items.size(); ++i) {
      const CanvasItem& item = scene.items[i];
      scene.byKey.insert(item.key, int(i));
      if (item.kind == ItemKind::Segment || item.kind == ItemKind::Body) scene.byName.insert(item.name, int(i));
      if (item.isBox()) ++scene.boxes;
      scene.slowestPredictedMs = std::max(scene.slowestPredictedMs, item.predictedMs.value_or(0));
      if (item.kind == ItemKind::Input || item.kind == ItemKind::Output) {
        addEntry(item.name, item.detail.toStdString(), int(i));
      }
    }
    for (const Level& level : m_levels)
      for (const NodeId id : level.graph().order()) addEntry(level, level.graph().node(id));
    for (const Closed& closed : m_closed) addEntry(closed.name, closed.op, closed.item);
  }

  /// `more` is looked at by searches beside the name.
  void addEntry(const QString& name, const std::string& more, int item) {
    const std::string all = name.toStdString() + '\n' + more;
    const bool ascii = std::all_of(all.begin(), all.end(), [](char c) { return static_cast<signed char>(c) >= 0; });
    const std::size_t begin = m_scene.searchText.size();
    if (ascii) {
      for (const char c : all) m_scene.searchText += c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
    } else {
      m_scene.searchText += text(all).toLower().toStdString();
    }
    m_scene.entries.push_back({name, item, begin, m_scene.searchText.size()});
  }

  void addEntry(const Level& level, const Node& node) {
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
  std::deque<Level> m_levels;  ///< the network first; bodies before what holds other bodies of theirs is done
  std::unordered_map<std::uint64_t, int> m_edgeOf;  ///< by the items at its ends
  struct Closed {
    QString name;
    std::string op;
    int item = -1;
  };
  std::vector<Closed> m_closed;  ///< what is in bodies that are not drawn
};

}  // namespace

bool holdsBodies(const Plan& plan, const FusedNode& fused) {
  return std::any_of(plan.bodies.begin(), plan.bodies.end(), [&](const PlannedBody& body) {
    return std::find(fused.nodes.begin(), fused.nodes.end(), body.holder) != fused.nodes.end();
  });
}

OpenState openAtFirst(const Plan& plan) {
  OpenState open;
  if (plan.fusedNodes.size() > kFewFusedNodes) return open;
  for (const FusedNode& fused : plan.fusedNodes)
    if (holdsBodies(plan, fused)) open.fused.insert(text(handleOf(fused)));
  return open;
}

CanvasScene buildCanvas(const Plan& plan, const OpenState& open, const CanvasFonts& fonts) {
  return Builder(plan, open, fonts).build();
}

}  // namespace fusescope
