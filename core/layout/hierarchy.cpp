#include "layout/hierarchy.h"

#include <algorithm>
#include <numeric>

namespace fusescope {
namespace {

class Builder {
 public:
  explicit Builder(const LayoutGraph& graph) : m_graph(graph), m_top(static_cast<int>(graph.containers.size())) {}

  Hierarchy build() {
    makeLevels();
    m_portOf.resize(m_h.levels.size());
    m_edgeOf.resize(m_h.levels.size());
    for (const LayoutEdge& edge : m_graph.edges) m_h.pieces.push_back(piecesOf(edge));
    return std::move(m_h);
  }

 private:
  int levelOf(int parent) const { return parent < 0 ? m_top : parent; }

  void makeLevels() {
    m_h.levels.resize(m_top + 1);
    for (const LayoutContainer& container : m_graph.containers) m_h.parent.push_back(levelOf(container.parent));
    m_h.parent.push_back(-1);
    countDepths();
    m_h.inward.resize(m_h.levels.size());
    std::iota(m_h.inward.begin(), m_h.inward.end(), 0);
    std::stable_sort(m_h.inward.begin(), m_h.inward.end(), [&](int a, int b) { return m_depth[a] < m_depth[b]; });
    for (std::size_t b = 0; b < m_graph.boxes.size(); ++b) {
      const LayoutBox& box = m_graph.boxes[b];
      m_entityOfBox.push_back(
          addEntity(levelOf(box.parent), {.width = box.width, .height = box.height}, static_cast<int>(b), -1));
    }
    for (int c = 0; c < m_top; ++c) m_h.entityOfContainer.push_back(addEntity(m_h.parent[c], {.inside = c}, -1, c));
  }

  void countDepths() {
    m_depth.assign(m_top + 1, -1);
    m_depth[m_top] = 0;
    std::vector<int> way;
    for (int c = 0; c < m_top; ++c) {
      int level = c;
      for (; m_depth[level] < 0; level = m_h.parent[level]) way.push_back(level);
      for (int depth = m_depth[level]; !way.empty(); way.pop_back()) m_depth[way.back()] = ++depth;
    }
  }

  int addEntity(int level, LevelEntity entity, int box, int container) {
    Level& to = m_h.levels[level];
    to.graph.entities.push_back(entity);
    to.boxes.push_back(box);
    to.containers.push_back(container);
    return static_cast<int>(to.graph.entities.size()) - 1;
  }

  // All wires to or from a box outside pass the border at one port.
  int port(int level, int box, LevelEntity::Kind kind) {
    const std::uint64_t key = (static_cast<std::uint64_t>(box) << 1) | (kind == LevelEntity::Kind::PortIn ? 1 : 0);
    const auto [it, added] = m_portOf[level].try_emplace(key, 0);
    if (added) it->second = addEntity(level, {.kind = kind}, -1, -1);
    return it->second;
  }

  /// The place in a level where an edge begins or ends.
  struct End {
    int level, entity, port;
  };

  // Edges of the graph that have the same ends in a level share one edge there. -1 means that the box is outside.
  Hierarchy::Piece piece(const End& from, const End& to, int fromBox, int toBox) {
    const std::uint64_t key = (static_cast<std::uint64_t>(fromBox + 1) << 32) | static_cast<std::uint64_t>(toBox + 1);
    std::vector<LevelEdge>& edges = m_h.levels[from.level].graph.edges;
    const auto [it, added] = m_edgeOf[from.level].try_emplace(key, static_cast<int>(edges.size()));
    if (added) edges.push_back({.from = from.entity, .to = to.entity, .fromPort = from.port, .toPort = to.port});
    return {from.level, it->second};
  }

  // The pieces go up from the source, across, and down to the target.
  std::vector<Hierarchy::Piece> piecesOf(const LayoutEdge& edge) {
    End from{levelOf(m_graph.boxes[edge.from].parent), m_entityOfBox[edge.from], -1};
    End to{levelOf(m_graph.boxes[edge.to].parent), m_entityOfBox[edge.to], -1};
    std::vector<Hierarchy::Piece> up, down;
    while (from.level != to.level) {
      const bool leaves = m_depth[from.level] >= m_depth[to.level];
      End& end = leaves ? from : to;
      const int at = port(end.level, leaves ? edge.from : edge.to,
                          leaves ? LevelEntity::Kind::PortOut : LevelEntity::Kind::PortIn);
      const End border{end.level, at, -1};
      if (leaves) {
        up.push_back(piece(from, border, edge.from, -1));
      } else {
        down.push_back(piece(border, to, -1, edge.to));
      }
      end = {m_h.parent[end.level], m_h.entityOfContainer[end.level], at};
    }
    up.push_back(piece(from, to, edge.from, edge.to));
    up.insert(up.end(), down.rbegin(), down.rend());
    return up;
  }

  const LayoutGraph& m_graph;
  const int m_top;
  Hierarchy m_h;
  std::vector<int> m_depth, m_entityOfBox;
  std::vector<std::unordered_map<std::uint64_t, int>> m_portOf;  // level: (box, direction) -> entity
  std::vector<std::unordered_map<std::uint64_t, int>> m_edgeOf;  // level: (box from, box to) -> edge
};

}  // namespace

Hierarchy hierarchyOf(const LayoutGraph& graph) {
  return Builder(graph).build();
}

}  // namespace fusescope
