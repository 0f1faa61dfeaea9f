#include "ui/canvas/canvas_builder.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "planning/fused_node_facts.h"

namespace fusescope {
namespace {

constexpr int kStubsOfInput = 6;   // readers of an input of the network, above which it is drawn as stubs
constexpr int kStubsOfValue = 16;  // readers of any other value
constexpr std::size_t kOpsInTitle = 3;

QString text(const std::string& s) {
  return QString::fromStdString(s);
}
QString text(std::string_view s) {
  return QString::fromUtf8(s.data(), int(s.size()));
}
const QString kDot = QStringLiteral(" \u00b7 ");

QString readableKind(const std::string& kind) {
  return text(kind).replace('_', ' ');
}

class Builder {
 public:
  Builder(const Plan& plan, const OpenState& open, const CanvasFonts& fonts)
      : m_plan(plan), m_graph(plan.graph()), m_open(open), m_fonts(fonts) {}

  CanvasScene build() {
    collectTypes();
    addSegments();
    addFusedNodes();
    addStrayNodes();
    addInputs();
    addOutputs();
    connect();
    finish();
    return std::move(m_scene);
  }

 private:
  // Types as they stand in memory under the plan.
  void collectTypes() {
    for (const TruncatedValue& value : m_plan.truncation.inputs) m_stored[value.value.index] = value.to;
    for (const TruncatedValue& value : m_plan.truncation.produced) m_stored[value.value.index] = value.to;
    for (const FusedNode& fused : m_plan.fusedNodes) {
      for (const InnerEdge& inner : fused.innerEdges) {
        m_stored[inner.value.index] = inner.type;
        if (!inner.real) m_inner[inner.value.index] = heldWider(fused, inner.value) != nullptr;
      }
      for (const FusedOutput& output : fused.outputs) m_stored[output.value.index] = output.type;
    }
    for (std::size_t c = 0; c < m_plan.casts.size(); ++c) {
      for (const FusedNodeId& consumer : m_plan.casts[c].consumers) {
        m_castOf[{m_plan.casts[c].value.index, consumer.index}] = int(c);
      }
      if (m_plan.casts[c].consumers.empty()) m_castOfOutput[m_plan.casts[c].value.index] = int(c);
    }
  }

  TensorType typeOf(ValueId value) const {
    TensorType type = m_graph.value(value).type;
    const auto it = m_stored.find(value.index);
    if (it != m_stored.end() && it->second != DataType::Undefined) type.dtype = it->second;
    return type;
  }

  /// That a value lives in registers and is never stored, and whether wider than its kernel calculates in.
  QString innerNote(ValueId value) const {
    const auto inner = m_inner.find(value.index);
    if (inner == m_inner.end()) return {};
    return inner->second ? QStringLiteral(" held wider") : QStringLiteral(" inner");
  }

  int add(CanvasItem item) {
    m_scene.items.push_back(std::move(item));
    return int(m_scene.items.size()) - 1;
  }

  void addSegments() {
    for (std::size_t s = 0; s < m_plan.segments.size(); ++s) {
      const Segment& segment = m_plan.segments[s];
      CanvasItem item;
      item.kind = ItemKind::Segment;
      item.name = text(segment.name);
      item.key = "s:" + item.name;
      item.title = item.name;
      item.fallback = segment.kind == SegmentKind::Fallback;
      item.detail = text(segment.backend) + kDot + (item.fallback ? "fallback" : "accelerated");
      item.segment = int(s);
      item.nodes = int(segment.nodes.size());
      item.meta = QString("%1 nodes").arg(item.nodes);
      item.kindName = item.fallback ? "fallback" : "accelerated";
      item.canOpen = true;
      item.open = !m_open.closedSegments.contains(item.name) && !segment.nodes.empty();
      sizeItem(item);
      m_itemOfSegment[segment.id.index] = add(std::move(item));
    }
  }

  void addFusedNodes() {
    m_itemOfNode.assign(m_graph.nodeIdLimit(), -1);
    m_fusedOfNode.assign(m_graph.nodeIdLimit(), -1);
    for (std::size_t f = 0; f < m_plan.fusedNodes.size(); ++f) {
      const FusedNode& fused = m_plan.fusedNodes[f];
      const auto segment = m_itemOfSegment.find(fused.segment.index);
      const int container = segment == m_itemOfSegment.end() ? -1 : segment->second;
      const bool hidden = container >= 0 && !m_scene.items[container].open;
      int box = hidden ? container : addFused(fused, container);
      for (const NodeId node : fused.nodes) {
        if (!m_graph.has(node) || m_itemOfNode[node.index] >= 0) continue;  // coverings may name a node twice
        m_fusedOfNode[node.index] = int(f);
        m_itemOfNode[node.index] = !hidden && m_scene.items[box].open ? addNode(m_graph.node(node), box, &fused) : box;
      }
      const QString handle = text(handleOf(fused)), name = text(fused.name);
      m_scene.byName.insert(name, box);
      if (!m_scene.byKey.contains(handle)) m_scene.byKey.insert(handle, box);
      m_scene.fusedOf.insert(handle, handle);
      if (!m_scene.fusedOf.contains(name)) m_scene.fusedOf.insert(name, handle);
      if (fused.nodes.size() > 1) m_scene.openable.insert(handle);
    }
  }

  int addFused(const FusedNode& fused, int container) {
    CanvasItem item;
    item.kind = ItemKind::Fused;
    item.name = text(fused.name);
    item.key = text(handleOf(fused));
    item.kindName = text(fused.kind);
    item.prediction = fused.nodes.size() > 1 && isPrediction(m_plan, fused);
    item.nodes = int(fused.nodes.size());
    item.canOpen = fused.nodes.size() > 1;
    item.open = item.canOpen && m_open.fused.contains(item.key);
    item.title = titleOf(fused);
    const NodeId root = fused.root.valid() ? fused.root : fused.nodes.empty() ? NodeId() : fused.nodes.front();
    item.detail = root.valid() && m_graph.has(root) ? text(m_graph.node(root).name) : item.name;
    if (item.nodes > 1) item.detail += QString(" +%1").arg(item.nodes - 1);
    if (!fused.outputs.empty()) item.meta = text(typeOf(fused.outputs.front().value).text());
    setPrecision(item, fused);
    item.predictedMs = fused.predictedMs;
    item.predictedByFit = fused.predictedHow == PriceSource::Fitted;
    item.timeKey = item.key;
    item.parent = container;
    if (container >= 0) {
      item.segment = m_scene.items[container].segment;
      item.fallback = m_scene.items[container].fallback;
    }
    for (const NodeId node : fused.nodes) item.constants += constantsOf(m_graph.node(node));
    sizeItem(item);
    return add(std::move(item));
  }

  QString titleOf(const FusedNode& fused) const {
    if (fused.nodes.size() > kOpsInTitle) {
      const QString kind = readableKind(fused.kind);
      return kind.left(1).toUpper() + kind.mid(1);
    }
    QStringList ops;
    for (const NodeId node : fused.nodes) ops << text(m_graph.node(node).op);
    return ops.join(" + ");
  }

  void setPrecision(CanvasItem& item, const FusedNode& fused) const {
    const DataType output = fused.outputs.empty() ? DataType::Undefined : fused.outputs.front().type;
    const bool floats = isFloat(fused.compute) && (output == DataType::Undefined || isFloat(output));
    item.precision = floats || output == DataType::Undefined ? fused.compute : output;
    for (const FusedOutput& other : fused.outputs) {
      if (floats && isFloat(other.type) && other.type != fused.compute) item.mixedPrecision = true;
    }
    for (const DataType type : calculatedTypes(m_plan, fused)) item.types << text(name(type));
    if (item.types.size() > 1) item.mixedPrecision = true;
  }

  int addNode(const Node& node, int parent, const FusedNode* fused) {
    CanvasItem item;
    item.kind = ItemKind::Node;
    item.name = text(node.name);
    item.key = "n:" + item.name;
    item.title = text(node.op);
    item.detail = item.name;
    item.nodes = 1;
    item.parent = parent;
    item.constants = constantsOf(node);
    if (parent >= 0) {
      item.segment = m_scene.items[parent].segment;
      item.fallback = m_scene.items[parent].fallback;
      item.kindName = m_scene.items[parent].kindName;
    }
    if (node.outputs.empty() || !node.outputs.front().valid()) {
      item.precision = fused ? fused->compute : DataType::Undefined;
    } else {
      const TensorType type = typeOf(node.outputs.front());
      item.meta = text(type.text()) + innerNote(node.outputs.front());
      const DataType calculates =
          node.id.index < m_plan.calculates.size() ? m_plan.calculates[node.id.index] : DataType::Undefined;
      item.precision = isFloat(calculates) && !item.fallback ? calculates : type.dtype;
    }
    sizeBox(item);
    return add(std::move(item));
  }

  // Read-back plans need not hold every node.
  void addStrayNodes() {
    for (const NodeId id : m_graph.order()) {
      if (m_itemOfNode[id.index] < 0) m_itemOfNode[id.index] = addNode(m_graph.node(id), -1, nullptr);
    }
  }

  void addInputs() {
    for (const ValueId id : m_graph.inputs()) m_itemOfInput[id.index] = addPill(id, ItemKind::Input, "i:");
  }

  void addOutputs() {
    for (const ValueId id : m_graph.outputs()) m_outputs.emplace_back(id, addPill(id, ItemKind::Output, "o:"));
  }

  int addPill(ValueId id, ItemKind kind, const char* prefix) {
    const Value& value = m_graph.value(id);
    CanvasItem item;
    item.kind = kind;
    item.name = text(value.name);
    item.key = prefix + item.name;
    item.title = m_fonts.title.elided(item.name, metrics::kWidestBox - 60);
    const TensorType type = value.type;  // the declared one: casts stand at the edge
    item.detail = m_fonts.meta.elided(text(type.text()), metrics::kWidestBox - 40);
    item.precision = type.dtype;
    item.kindName = kind == ItemKind::Input ? "input" : "output";
    item.size = {std::max({m_fonts.title.width(item.title), m_fonts.meta.width(item.detail), 60.0}) + 44,
                 metrics::kPillHeight};
    m_scene.byName.insert(item.name, int(m_scene.items.size()));
    return add(std::move(item));
  }

  int constantsOf(const Node& node) const {
    return int(std::count_if(node.inputs.begin(), node.inputs.end(),
                             [&](ValueId v) { return v.valid() && m_graph.isConstant(v); }));
  }

  void sizeItem(CanvasItem& item) const {
    if (!item.open) return sizeBox(item);
    const double title = m_fonts.title.width(item.title);
    const double width =
        item.kind == ItemKind::Segment
            ? title + m_fonts.detail.width(item.detail + kDot + item.meta) + 64
            : std::max(title + metrics::kBadgeWidth + 56, std::min(m_fonts.detail.width(item.detail) + 96, 240.0));
    item.size = {std::ceil(width), 0};
  }

  void sizeBox(CanvasItem& item) const {
    const double room = metrics::kWidestBox - 2 * metrics::kBoxPaddingX - metrics::kStripe;
    item.title = m_fonts.title.elided(item.title, room - metrics::kBadgeWidth);
    item.detail = m_fonts.detail.elided(item.detail, room);
    item.meta = m_fonts.meta.elided(item.meta, room);
    const double widest = std::max({m_fonts.title.width(item.title) + metrics::kBadgeWidth + 6,
                                    m_fonts.detail.width(item.detail), m_fonts.meta.width(item.meta) + 8});
    const double width = std::max(widest + 2 * metrics::kBoxPaddingX + metrics::kStripe, metrics::kLeastBox);
    item.size = {std::ceil(width), metrics::kBoxHeight};
  }

  // An edge between the items that stand for producer and reader, for every value that passes between two of them.
  void connect() {
    struct Use {
      int item;
      int fused;
    };
    std::map<std::uint32_t, std::vector<Use>> usesOf;
    std::vector<ValueId> inOrder;
    const auto use = [&](ValueId value, NodeId reader) {
      if (!value.valid() || !m_graph.has(value) || m_graph.isConstant(value)) return;
      std::vector<Use>& uses = usesOf[value.index];
      if (uses.empty()) inOrder.push_back(value);
      const int item = m_itemOfNode[reader.index];
      const bool known = std::any_of(uses.begin(), uses.end(), [&](const Use& other) { return other.item == item; });
      if (!known) uses.push_back({item, m_fusedOfNode[reader.index]});
    };
    for (const NodeId id : m_graph.order()) {
      const Node& node = m_graph.node(id);
      for (const ValueId value : node.inputs) use(value, id);
      for (const auto& [key, attribute] : node.attributes) {
        const Subgraph* body = std::get_if<Subgraph>(&attribute);
        if (body == nullptr) continue;
        for (const ValueId value : body->captures) use(value, id);
      }
    }
    for (const ValueId value : inOrder) {
      const int source = itemProducing(value);
      if (source < 0) continue;
      const std::vector<Use>& uses = usesOf[value.index];
      const bool isInput = m_itemOfInput.contains(value.index);
      const bool stubs = uses.size() > std::size_t(isInput ? kStubsOfInput : kStubsOfValue);
      bool first = true;
      for (const Use& reader : uses) {
        if (reader.item == source) continue;
        if (stubs && !first) {
          addStub(reader.item, value);
        } else {
          addEdge(source, reader.item, value, castTo(value, reader.fused));
        }
        first = false;
      }
    }
    for (const auto& [value, item] : m_outputs) {
      const int source = itemProducing(value);
      const auto cast = m_castOfOutput.find(value.index);
      if (source >= 0) addEdge(source, item, value, cast == m_castOfOutput.end() ? -1 : cast->second);
    }
  }

  int itemProducing(ValueId value) const {
    const auto input = m_itemOfInput.find(value.index);
    if (input != m_itemOfInput.end()) return input->second;
    const NodeId producer = m_graph.value(value).producer;
    return producer.valid() ? m_itemOfNode[producer.index] : -1;
  }

  int castTo(ValueId value, int fused) const {
    if (fused < 0) return -1;
    const auto it = m_castOf.find({value.index, m_plan.fusedNodes[std::size_t(fused)].id.index});
    return it == m_castOf.end() ? -1 : it->second;
  }

  void addStub(int item, ValueId value) {
    const QString name = m_fonts.meta.elided(text(m_graph.value(value).name), 110);
    CanvasItem& reader = m_scene.items[item];
    if (reader.open || reader.stubs.contains(name)) return;
    if (reader.stubs.isEmpty()) reader.size.rheight() += metrics::kStubRow;
    reader.stubs << name;
    double width = 2 * metrics::kBoxPaddingX + metrics::kStripe;
    for (const QString& stub : reader.stubs) width += m_fonts.meta.width(stub) + 22;
    reader.size.setWidth(std::min(std::max(reader.size.width(), width), metrics::kWidestBox));
  }

  void addEdge(int from, int to, ValueId value, int cast) {
    const auto [it, added] = m_edgeOf.try_emplace({from, to}, int(m_scene.edges.size()));
    if (added) m_scene.edges.push_back({.from = from, .to = to});
    CanvasEdge& edge = m_scene.edges[std::size_t(it->second)];
    const QString type = text(typeOf(value).text()) + innerNote(value);
    edge.tooltip += QString("%1%2  %3").arg(added ? "" : "\n", text(m_graph.value(value).name), type);
    if (added) edge.label = type;
    if (cast >= 0) describeCast(edge, m_plan.casts[std::size_t(cast)]);
  }

  static void describeCast(CanvasEdge& edge, const PlannedCast& cast) {
    const QString arrow = QString("%1\u2192%2").arg(text(name(cast.from)), text(name(cast.to)));
    edge.cast = arrow;
    edge.tooltip += "\ncast " + arrow;
    if (cast.bytes) edge.tooltip += QString(", %1 bytes moved").arg(qlonglong(*cast.bytes));
    edge.tooltip += ", because of: " + text(cast.reason).replace('_', ' ');
  }

  void finish() {
    CanvasScene& scene = m_scene;
    scene.in.resize(scene.items.size());
    scene.out.resize(scene.items.size());
    for (std::size_t e = 0; e < scene.edges.size(); ++e) {
      scene.out[scene.edges[e].from].push_back(int(e));
      scene.in[scene.edges[e].to].push_back(int(e));
    }
    for (std::size_t i = 0; i < scene.items.size(); ++i) {
      const CanvasItem& item = scene.items[i];
      scene.byKey.insert(item.key, int(i));
      if (item.kind == ItemKind::Segment) scene.byName.insert(item.name, int(i));
      if (item.isBox()) ++scene.boxes;
      scene.slowestPredictedMs = std::max(scene.slowestPredictedMs, item.predictedMs.value_or(0));
      if (item.kind == ItemKind::Input || item.kind == ItemKind::Output) {
        scene.entries.push_back({item.name, (item.name + '\n' + item.detail).toLower(), int(i)});
      }
    }
    for (const NodeId id : m_graph.order()) addEntry(m_graph.node(id));
  }

  void addEntry(const Node& node) {
    const int item = m_itemOfNode[node.id.index];
    const QString name = text(node.name);
    QString all = name + '\n' + text(node.op);
    for (const ValueId value : node.outputs) {
      if (!value.valid()) continue;
      const QString valueName = text(m_graph.value(value).name);
      all += '\n' + valueName;
      if (!m_scene.byName.contains(valueName)) m_scene.byName.insert(valueName, item);
    }
    for (const OriginId origin : node.origins) {
      if (origin.index < m_plan.model->origins.size()) all += '\n' + text(m_plan.model->origins[origin.index].name);
    }
    const int fused = m_fusedOfNode[node.id.index];
    if (fused >= 0) {
      m_scene.fusedOf.insert(name, text(handleOf(m_plan.fusedNodes[std::size_t(fused)])));
      all += '\n' + text(m_plan.fusedNodes[std::size_t(fused)].kind);
    }
    m_scene.byName.insert(name, item);
    m_scene.entries.push_back({name, all.toLower(), item});
  }

  const Plan& m_plan;
  const Graph& m_graph;
  const OpenState& m_open;
  const CanvasFonts& m_fonts;
  CanvasScene m_scene;
  std::unordered_map<std::uint32_t, DataType> m_stored;
  std::unordered_map<std::uint32_t, bool> m_inner;                  // values in registers: whether held wider
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> m_castOf;  // (value, reader) -> cast
  std::map<std::uint32_t, int> m_castOfOutput;
  std::map<std::uint32_t, int> m_itemOfSegment, m_itemOfInput;
  std::vector<std::pair<ValueId, int>> m_outputs;
  std::vector<int> m_itemOfNode, m_fusedOfNode;  // by node
  std::map<std::pair<int, int>, int> m_edgeOf;
};

}  // namespace

CanvasScene buildCanvas(const Plan& plan, const OpenState& open, const CanvasFonts& fonts) {
  return Builder(plan, open, fonts).build();
}

}  // namespace fusescope
