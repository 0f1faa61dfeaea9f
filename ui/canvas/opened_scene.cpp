#include "ui/canvas/opened_scene.h"

#include <algorithm>
#include <map>
#include <set>

#include "layout/level.h"
#include "ui/canvas/canvas_room.h"

namespace fusescope {
namespace {

class Opening {
 public:
  Opening(BuiltCanvas& built, const QSet<QString>& handles)
      : m_built(built), m_base(built.scene), m_handles(handles), m_scene(built.scene) {}

  Result<std::optional<CanvasScene>> run(const LayoutOptions& options) {
    if (!find()) return std::optional<CanvasScene>();
    std::map<CanvasLevel*, std::vector<int>> before;
    for (const Box& box : m_boxes) before.try_emplace(box.level, box.level->itemOfNode);
    const bool simple = connectChildren();
    for (auto& [level, items] : before) level->itemOfNode = std::move(items);
    if (!simple) return std::optional<CanvasScene>();
    for (Box& box : m_boxes) TRY(layOutInside(box, options));
    placeAll();
    m_scene.indexPlaces(&m_base);
    return std::optional<CanvasScene>(std::move(m_scene));
  }

 private:
  /// A fused node that is being opened.
  struct Box {
    CanvasLevel* level;
    int index, item;
    std::vector<int> children{};
    LevelGraph inside{};
    std::map<int, int> entityOf{};              ///< indexed by child item
    std::map<int, int> portIn{}, portOut{};     ///< indexed by the item outside
    std::map<std::pair<int, int>, int> edge{};  ///< indexed by the two entities
    std::shared_ptr<const LevelLayout> layout{};
    ContainerFrame frame{};
    QPointF content{};  ///< the upper left corner of its contents
  };
  /// An edge that begins or ends in an opened box. `base` is the edge of the closed picture from which it is derived,
  /// or -1 for an edge inside of the box.
  struct Wire {
    int edge, base;
  };

  int boxOf(int item) const {
    const int inside = item < int(m_base.items.size()) ? -1 : m_scene.items[std::size_t(item)].parent;
    const auto found = m_boxAt.find(inside);
    return found == m_boxAt.end() ? -1 : found->second;
  }
  int baseOf(int item) const { return boxOf(item) < 0 ? item : m_scene.items[std::size_t(item)].parent; }

  bool find() {
    for (std::size_t i = 0; i < m_base.items.size(); ++i) {
      const BuiltCanvas::FusedAt& at = m_built.fusedAt[i];
      if (at.level == nullptr || !m_handles.contains(m_base.items[i].key)) continue;
      if (at.hidesContainers) return false;
      m_boxAt[int(i)] = int(m_boxes.size());
      m_boxes.push_back({at.level, at.index, int(i)});
    }
    return true;
  }

  // ---- items and edges ----
  bool connectChildren() {
    std::vector<std::pair<CanvasLevel*, ValueId>> values;
    // For each value, whether it is drawn as stubs in the closed picture.
    std::map<std::pair<CanvasLevel*, std::uint32_t>, bool> stubs;
    for (const Box& box : m_boxes) {
      for (const NodeId node : nodesOf(box)) {
        const Node& of = box.level->graph().node(node);
        for (const auto* ids : {&of.inputs, &of.outputs}) {
          for (const ValueId value : *ids) {
            if (!value.valid() || stubs.contains({box.level, value.index})) continue;
            values.emplace_back(box.level, value);
            stubs[{box.level, value.index}] = box.level->isDrawnAsStubs(value, box.level->usesOf(value));
          }
        }
      }
    }
    for (Box& box : m_boxes) addChildren(box);
    CanvasWires wires(m_scene.items, int(m_base.items.size()));
    for (const auto& [level, value] : values) {
      const auto uses = level->usesOf(value);
      if (level->isDrawnAsStubs(value, uses) != stubs[{level, value.index}]) return false;
      wires.addValue(*level, value, uses);
      for (const auto& [output, item] : level->outputs)
        if (output == value) wires.addOutput(*level, value, item);
    }
    return takeWires(wires.edges());
  }

  /// Returns the nodes that the box represents. A cover may contain a node twice.
  static std::vector<NodeId> nodesOf(const Box& box) {
    std::vector<NodeId> nodes = box.level->cover.fusedNodes[std::size_t(box.index)].nodes;
    std::erase_if(nodes, [&](NodeId id) {
      return !box.level->graph().has(id) || box.level->parts.fusedOfNode[id.index] != box.index ||
             box.level->itemOfNode[id.index] != box.item;
    });
    return nodes;
  }

  void addChildren(Box& box) {
    CanvasLevel& level = *box.level;
    const FusedNode& fused = level.cover.fusedNodes[std::size_t(box.index)];
    const CanvasItem closed = m_base.items[std::size_t(box.item)];
    CanvasItem opened = fusedContainers().item(level.parts, std::size_t(box.index));
    opened.container = &fusedContainers();
    opened.open = true;
    level.items.size(opened);
    opened.parent = closed.parent;
    opened.segment = closed.segment;
    m_scene.items.edit(std::size_t(box.item)) = std::move(opened);
    --m_scene.boxes;
    for (const NodeId id : nodesOf(box)) {
      const Node& node = level.graph().node(id);
      CanvasItem child = level.items.node(node, level.parts.nameOf(node), &fused);
      child.parent = box.item;
      child.segment = closed.segment;
      const int item = int(m_scene.items.size());
      m_scene.levels[level.place].ofNode[id.index] = item;
      m_scene.items.push_back(std::move(child));
      ++m_scene.boxes;
      level.itemOfNode[id.index] = item;
      box.children.push_back(item);
    }
  }
  bool takeWires(std::vector<CanvasEdge>& edges) {
    std::map<std::pair<int, int>, int> ofBase;
    for (const Box& box : m_boxes)
      for (const int e : m_base.edgeIndex.meeting(m_base.rects[std::size_t(box.item)].adjusted(-1, -1, 1, 1))) {
        const CanvasEdge& edge = m_base.edges[std::size_t(e)];
        if (edge.from == box.item || edge.to == box.item) ofBase[{edge.from, edge.to}] = e;
      }
    for (const auto& [ends, e] : ofBase) {
      --m_scene.items.edit(std::size_t(ends.first)).edgesOut;
      --m_scene.items.edit(std::size_t(ends.second)).edgesIn;
    }
    for (const Box& box : m_boxes) {
      CanvasItem& item = m_scene.items.edit(std::size_t(box.item));
      item.edgesIn = item.edgesOut = 0;
    }
    for (CanvasEdge& edge : edges) {
      ++m_scene.items.edit(std::size_t(edge.from)).edgesOut;
      ++m_scene.items.edit(std::size_t(edge.to)).edgesIn;
      const std::pair ends(baseOf(edge.from), baseOf(edge.to));
      const auto base = ofBase.find(ends);
      if (ends.first != ends.second && base == ofBase.end()) return false;
      Wire wire{int(m_scene.edges.size()), ends.first == ends.second ? -1 : base->second};
      if (wire.base >= 0 && m_wireAt.emplace(wire.base, int(m_wires.size())).second) {
        wire.edge = wire.base;
        m_scene.edges.edit(std::size_t(wire.base)) = std::move(edge);
      } else {
        m_scene.edges.push_back(std::move(edge));
      }
      m_wires.push_back(wire);
    }
    return m_wireAt.size() == ofBase.size();
  }

  // ---- places ----
  Status layOutInside(Box& box, const LayoutOptions& options) {
    using Kind = LevelEntity::Kind;
    LevelGraph& graph = box.inside;
    for (const int child : box.children) {
      const QSizeF& size = m_scene.items[std::size_t(child)].size;
      box.entityOf[child] = int(graph.entities.size());
      graph.entities.push_back({.width = size.width(), .height = size.height()});
    }
    std::vector<std::pair<double, int>> in, out;  // ports, ordered by where their wires cross the border now
    const auto port = [&](std::map<int, int>& ports, int outside, Kind kind, double x) {
      const auto [entry, added] = ports.try_emplace(outside, int(graph.entities.size()));
      if (added) (kind == Kind::PortIn ? in : out).emplace_back(x, entry->second);
      if (added) graph.entities.push_back({.kind = kind});
      return entry->second;
    };
    const int self = m_boxAt.at(box.item);
    for (const Wire& wire : m_wires) {
      const CanvasEdge& edge = m_scene.edges[std::size_t(wire.edge)];
      const bool leaves = boxOf(edge.from) == self, enters = boxOf(edge.to) == self;
      if (!leaves && !enters) continue;
      const auto base = wire.base < 0 ? CanvasCurves::Points() : m_base.curves.of(wire.base);
      const int from = leaves ? box.entityOf[edge.from] : port(box.portIn, edge.from, Kind::PortIn, base.back().x());
      const int to = enters ? box.entityOf[edge.to] : port(box.portOut, edge.to, Kind::PortOut, base.front().x());
      if (box.edge.try_emplace({from, to}, int(graph.edges.size())).second) graph.edges.push_back({from, to});
    }
    const auto inOrder = [](std::vector<std::pair<double, int>>& ports) {
      std::stable_sort(ports.begin(), ports.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
      std::vector<int> order;
      for (const auto& [x, entity] : ports) order.push_back(entity);
      return order;
    };
    graph.portsIn = inOrder(in);
    graph.portsOut = inOrder(out);
    box.layout = TRY(layOutLevel(graph, options));
    box.frame = frameOf(containerOf(m_scene.items[std::size_t(box.item)], -1), *box.layout);
    m_grown.push_back({box.item, QSizeF(box.frame.width, box.frame.height), wantedLeft(box, in, out)});
    return Done{};
  }

  // Returns the left edge at which the middle wire is straight.
  double wantedLeft(const Box& box, const std::vector<std::pair<double, int>>& in,
                    const std::vector<std::pair<double, int>>& out) const {
    const auto& ports = in.empty() ? out : in;
    if (ports.empty()) return m_base.rects[std::size_t(box.item)].center().x() - box.frame.width / 2;
    const auto& [x, entity] = ports[ports.size() / 2];
    return x - box.frame.left - box.layout->entities[std::size_t(entity)].x;
  }

  void placeAll() {
    const CanvasRoom room(m_base, m_grown);
    for (std::size_t i = 0; i < m_base.items.size(); ++i) m_scene.rects[i] = room.rectOf(int(i));
    for (Box& box : m_boxes) {
      const double header = containerOf(m_scene.items[std::size_t(box.item)], -1).header;
      box.content = m_scene.rects[std::size_t(box.item)].topLeft() + QPointF(box.frame.left, header);
    }
    for (std::size_t i = m_base.items.size(); i < m_scene.items.size(); ++i) {
      const Box& box = m_boxes[std::size_t(boxOf(int(i)))];
      const PlacedRect& at = box.layout->entities[std::size_t(box.entityOf.at(int(i)))];
      m_scene.rects.emplace_back(box.content.x() + at.x, box.content.y() + at.y, at.width, at.height);
    }
    CanvasCurves curves;
    curves.reserve(m_scene.edges.size(), m_base.curves.pointCount() + 32 * m_wires.size());
    std::vector<QPointF> points;
    for (int e = 0; e < int(m_base.edges.size()); ++e) {
      points.clear();
      const auto wire = m_wireAt.find(e);
      if (wire == m_wireAt.end()) {
        room.appendCurve(e, {}, points);
      } else {
        appendWire(m_wires[std::size_t(wire->second)], room, points);
      }
      curves.add(points);
    }
    for (const Wire& wire : m_wires) {
      if (wire.edge < int(m_base.edges.size())) continue;
      points.clear();
      appendWire(wire, room, points);
      curves.add(points);
    }
    m_scene.curves = std::move(curves);
  }

  // Appends the parts of a wire: inside the box where it begins, outside, and inside the box where it ends.
  void appendWire(const Wire& wire, const CanvasRoom& room, std::vector<QPointF>& points) const {
    const CanvasEdge& edge = m_scene.edges[std::size_t(wire.edge)];
    const int fromBox = boxOf(edge.from), toBox = boxOf(edge.to);
    if (wire.base < 0) {
      const Box& box = m_boxes[std::size_t(fromBox)];
      return appendInside(box, box.entityOf.at(edge.from), box.entityOf.at(edge.to), points);
    }
    CanvasRoom::Ends ends;
    if (fromBox >= 0) {
      const Box& box = m_boxes[std::size_t(fromBox)];
      const int port = box.portOut.at(edge.to);
      appendInside(box, box.entityOf.at(edge.from), port, points);
      ends.from = QPointF(portX(box, port), m_scene.rects[std::size_t(box.item)].bottom());
      appendStraight(points, *ends.from);
    }
    const int port = toBox < 0 ? -1 : m_boxes[std::size_t(toBox)].portIn.at(edge.from);
    if (toBox >= 0) {
      const Box& box = m_boxes[std::size_t(toBox)];
      ends.to = QPointF(portX(box, port), m_scene.rects[std::size_t(box.item)].top());
    }
    if (fromBox >= 0) points.pop_back();  // the first point of the part outside is the same
    room.appendCurve(wire.base, ends, points);
    if (toBox < 0) return;
    const Box& box = m_boxes[std::size_t(toBox)];
    appendInside(box, port, box.entityOf.at(edge.to), points);
  }
  double portX(const Box& box, int port) const { return box.content.x() + box.layout->entities[std::size_t(port)].x; }

  void appendInside(const Box& box, int from, int to, std::vector<QPointF>& points) const {
    const PlacedEdge& edge = box.layout->edges[std::size_t(box.edge.at({from, to}))];
    for (std::size_t p = 0; p < edge.points.size(); ++p) {
      const QPointF point = box.content + QPointF(edge.points[p].x, edge.points[p].y);
      if (p > 0 || points.empty()) {
        points.push_back(point);
      } else {
        appendStraight(points, point);
      }
    }
  }

  BuiltCanvas& m_built;
  const CanvasScene& m_base;
  const QSet<QString>& m_handles;
  CanvasScene m_scene;
  std::vector<Box> m_boxes;
  std::map<int, int> m_boxAt;  ///< for each item, its index in m_boxes
  std::vector<Wire> m_wires;
  /// For each edge of the closed picture, the first wire derived from it, which replaces it.
  std::map<int, int> m_wireAt;
  std::vector<CanvasRoom::Grown> m_grown;
};

}  // namespace

Result<std::optional<CanvasScene>> openedScene(BuiltCanvas& built, const QSet<QString>& handles,
                                               const LayoutOptions& options) {
  return Opening(built, handles).run(options);
}

}  // namespace fusescope
