#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <unordered_map>

#include "base/hash.h"
#include "layout/level.h"

namespace fusescope {
namespace {

constexpr std::size_t kLargestShared = 2'000;  // entities of a level that is worth remembering

/// One level while it is being put together. The last one is the top level.
struct Level {
  int container = -1;
  LevelGraph graph;
  std::vector<int> boxes;                         // entity -> box, or -1
  std::vector<int> containers;                    // entity -> container, or -1
  std::unordered_map<std::uint64_t, int> portOf;  // (box, direction) -> entity
  std::unordered_map<std::uint64_t, int> edgeOf;  // (box from, box to) -> edge
  std::shared_ptr<const LevelLayout> layout;
};

struct LevelEdgeRef {
  int level, edge;
};

class ContainerLayout {
 public:
  ContainerLayout(const LayoutGraph& graph, const LevelEngine& engine, const StopToken& stop)
      : m_graph(graph), m_engine(engine), m_stop(stop), m_top(static_cast<int>(graph.containers.size())) {}

  Result<LayoutGeometry> run() {
    makeLevels();
    for (std::size_t e = 0; e < m_graph.edges.size(); ++e) threadEdge(static_cast<int>(e));
    TRY(layoutLevels());
    return assemble();
  }

 private:
  int levelOf(int parent) const { return parent < 0 ? m_top : parent; }
  int parentLevel(int level) const { return levelOf(m_graph.containers[level].parent); }

  void makeLevels() {
    m_levels.resize(m_top + 1);
    m_depth.assign(m_top + 1, -1);
    m_depth[m_top] = 0;
    std::vector<int> way;
    for (int c = 0; c < m_top; ++c) {
      int level = c;
      for (; m_depth[level] < 0; level = parentLevel(level)) way.push_back(level);
      for (int depth = m_depth[level]; !way.empty(); way.pop_back()) m_depth[way.back()] = ++depth;
    }
    m_entityOfBox.resize(m_graph.boxes.size());
    for (std::size_t b = 0; b < m_graph.boxes.size(); ++b) {
      const LayoutBox& box = m_graph.boxes[b];
      m_entityOfBox[b] =
          addEntity(m_levels[levelOf(box.parent)], {.width = box.width, .height = box.height}, static_cast<int>(b), -1);
    }
    m_entityOfContainer.resize(m_top);
    for (int c = 0; c < m_top; ++c) {
      m_levels[c].container = c;
      m_entityOfContainer[c] = addEntity(m_levels[parentLevel(c)], {}, -1, c);
    }
  }

  static int addEntity(Level& level, LevelEntity entity, int box, int container) {
    level.graph.entities.push_back(entity);
    level.boxes.push_back(box);
    level.containers.push_back(container);
    return static_cast<int>(level.graph.entities.size()) - 1;
  }

  int port(int level, int box, LevelEntity::Kind kind) {
    const std::uint64_t key = (static_cast<std::uint64_t>(box) << 1) | (kind == LevelEntity::Kind::PortIn ? 1 : 0);
    const auto [it, added] = m_levels[level].portOf.try_emplace(key, 0);
    if (added) it->second = addEntity(m_levels[level], {.kind = kind}, -1, -1);
    return it->second;
  }

  // Edges of a level are shared by the edges of the graph that have the same ends as seen from there.
  int levelEdge(int level, std::uint64_t key, int from, int to) {
    const auto [it, added] = m_levels[level].edgeOf.try_emplace(key, 0);
    if (added) {
      it->second = static_cast<int>(m_levels[level].graph.edges.size());
      m_levels[level].graph.edges.push_back({.from = from, .to = to});
      m_endBoxes.resize(m_levels.size());
      m_endBoxes[level].push_back({static_cast<int>(key >> 32) - 1, static_cast<int>(key & 0xffffffffU) - 1});
    }
    return it->second;
  }
  static std::uint64_t endsKey(int fromBox, int toBox) {
    return (static_cast<std::uint64_t>(fromBox + 1) << 32) | static_cast<std::uint64_t>(toBox + 1);
  }

  // Splits an edge into one per level: up from its source, across, down to its target.
  void threadEdge(int e) {
    const LayoutEdge& edge = m_graph.edges[e];
    int fromLevel = levelOf(m_graph.boxes[edge.from].parent), toLevel = levelOf(m_graph.boxes[edge.to].parent);
    int from = m_entityOfBox[edge.from], to = m_entityOfBox[edge.to];
    std::vector<LevelEdgeRef> up, down;
    while (fromLevel != toLevel) {
      if (m_depth[fromLevel] >= m_depth[toLevel]) {
        const int out = port(fromLevel, edge.from, LevelEntity::Kind::PortOut);
        up.push_back({fromLevel, levelEdge(fromLevel, endsKey(edge.from, -1), from, out)});
        from = m_entityOfContainer[fromLevel];
        fromLevel = parentLevel(fromLevel);
      } else {
        const int in = port(toLevel, edge.to, LevelEntity::Kind::PortIn);
        down.push_back({toLevel, levelEdge(toLevel, endsKey(-1, edge.to), in, to)});
        to = m_entityOfContainer[toLevel];
        toLevel = parentLevel(toLevel);
      }
    }
    up.push_back({fromLevel, levelEdge(fromLevel, endsKey(edge.from, edge.to), from, to)});
    up.insert(up.end(), down.rbegin(), down.rend());
    m_threads.push_back(std::move(up));
  }

  Status layoutLevels() {
    std::vector<int> inward(m_levels.size());
    std::iota(inward.begin(), inward.end(), 0);
    std::stable_sort(inward.begin(), inward.end(), [&](int a, int b) { return m_depth[a] > m_depth[b]; });
    for (const int l : inward) {
      TRY(checkStop(m_stop));
      fixAttachments(l);
      TRY(layoutLevel(m_levels[l]));
      if (l == m_top) continue;
      LevelEntity& entity = m_levels[parentLevel(l)].graph.entities[m_entityOfContainer[l]];
      const LayoutContainer& container = m_graph.containers[l];
      entity.width = std::max(m_levels[l].layout->width + 2 * container.padding, container.minWidth);
      entity.height = m_levels[l].layout->height + container.header + container.padding;
    }
    return Done{};
  }

  // Where the ports of laid-out containers are, their parent's edges must attach.
  void fixAttachments(int l) {
    Level& level = m_levels[l];
    if (level.graph.edges.empty()) return;
    for (std::size_t i = 0; i < level.graph.edges.size(); ++i) {
      LevelEdge& edge = level.graph.edges[i];
      const auto [fromBox, toBox] = m_endBoxes[l][i];
      if (const int c = level.containers[edge.from]; c >= 0) edge.fromX = portX(c, fromBox, LevelEntity::Kind::PortOut);
      if (const int c = level.containers[edge.to]; c >= 0) edge.toX = portX(c, toBox, LevelEntity::Kind::PortIn);
    }
  }
  double portX(int container, int box, LevelEntity::Kind kind) {
    const int entity = port(container, box, kind);
    return contentLeft(container) + m_levels[container].layout->entities[entity].x;
  }
  // The content of a container narrower than the least width stands in its middle.
  double contentLeft(int container) const {
    const double width = m_levels[container].layout->width;
    const double padding = m_graph.containers[container].padding;
    return padding + std::max(0.0, (m_graph.containers[container].minWidth - width - 2 * padding) / 2);
  }

  Status layoutLevel(Level& level) {
    if (level.graph.entities.size() > kLargestShared) {
      level.layout = std::make_shared<LevelLayout>(TRY(m_engine(level.graph, m_stop)));
      return Done{};
    }
    std::shared_ptr<const LevelLayout>& shared = m_shared[keyOf(level.graph)];
    if (!shared) shared = std::make_shared<LevelLayout>(TRY(m_engine(level.graph, m_stop)));
    level.layout = shared;
    return Done{};
  }

  // All that a level's layout depends on.
  static std::string keyOf(const LevelGraph& graph) {
    KeyBuilder key;
    for (const LevelEntity& entity : graph.entities) key.number(entity.kind).number(entity.width).number(entity.height);
    key.text("edges");
    for (const LevelEdge& edge : graph.edges) {
      key.number(edge.from).number(edge.to).number(edge.fromX.value_or(-1)).number(edge.toX.value_or(-1));
    }
    return key.canonical();
  }

  LayoutGeometry assemble() {
    LayoutGeometry geometry;
    geometry.width = m_levels[m_top].layout->width;
    geometry.height = m_levels[m_top].layout->height;
    geometry.boxes.resize(m_graph.boxes.size());
    geometry.containers.resize(m_graph.containers.size());
    std::vector<PlacedPoint> origin(m_levels.size());  // of each level's content
    std::vector<int> outward(m_levels.size());
    std::iota(outward.begin(), outward.end(), 0);
    std::stable_sort(outward.begin(), outward.end(), [&](int a, int b) { return m_depth[a] < m_depth[b]; });
    for (const int l : outward) {
      const Level& level = m_levels[l];
      for (std::size_t i = 0; i < level.boxes.size(); ++i) {
        PlacedRect at = level.layout->entities[i];
        at.x += origin[l].x;
        at.y += origin[l].y;
        if (level.boxes[i] >= 0) geometry.boxes[level.boxes[i]] = at;
        const int c = level.containers[i];
        if (c < 0) continue;
        geometry.containers[c] = at;
        origin[c] = {at.x + contentLeft(c), at.y + m_graph.containers[c].header};
      }
    }
    for (const std::vector<LevelEdgeRef>& thread : m_threads) geometry.edges.push_back(joined(thread, origin));
    return geometry;
  }

  PlacedEdge joined(const std::vector<LevelEdgeRef>& thread, const std::vector<PlacedPoint>& origin) const {
    PlacedEdge whole;
    for (const LevelEdgeRef& ref : thread) {
      const PlacedEdge& part = m_levels[ref.level].layout->edges[ref.edge];
      for (std::size_t i = 0; i < part.points.size(); ++i) {
        const PlacedPoint point{part.points[i].x + origin[ref.level].x, part.points[i].y + origin[ref.level].y};
        if (i > 0) {
          whole.points.push_back(point);
        } else {
          appendLine(whole, point);
          whole.points.back() = point;
        }
      }
    }
    return whole;
  }

  const LayoutGraph& m_graph;
  const LevelEngine& m_engine;
  const StopToken& m_stop;
  const int m_top;
  std::vector<Level> m_levels;
  std::vector<int> m_depth;
  std::vector<int> m_entityOfBox, m_entityOfContainer;
  std::vector<std::vector<std::pair<int, int>>> m_endBoxes;  // level, edge -> boxes at its ends, -1 at a port
  std::vector<std::vector<LevelEdgeRef>> m_threads;          // edge of the graph -> its pieces
  std::map<std::string, std::shared_ptr<const LevelLayout>> m_shared;
};

}  // namespace

Result<LayoutGeometry> layoutByContainers(const LayoutGraph& graph, const LevelEngine& engine, const StopToken& stop) {
  return ContainerLayout(graph, engine, stop).run();
}

}  // namespace fusescope
