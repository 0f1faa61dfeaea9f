#include <algorithm>

#include "layout/wrapping.h"

namespace fusescope {
namespace {

using Kind = LevelEntity::Kind;

constexpr double kBesideWires = 30;  // distance between a stretch and the wires beside it
constexpr double kBeforeTurn = 12;   // distance between the end of a stretch and the first wire below or above it
constexpr double kWidestLane = 12, kLeastLane = 4;
constexpr double kWidestBundle = 160;  // width of all wires in one gutter, unless they would be indistinguishable

class Joining {
 public:
  Joining(const Level& whole, const Stretches& stretches) : m_whole(whole), m_stretches(stretches) {}

  LevelLayout run() {
    placeStretches();
    m_layout.entities.resize(m_whole.graph.entities.size());
    for (std::size_t v = 0; v < m_layout.entities.size(); ++v) {
      if (m_stretches.stretchOf[v] >= 0) m_layout.entities[v] = placed(static_cast<int>(v));
    }
    for (std::size_t e = 0; e < m_stretches.pieces.size(); ++e) m_layout.edges.push_back(edge(static_cast<int>(e)));
    placeLonely(m_whole.state, m_layout);
    return std::move(m_layout);
  }

 private:
  const LevelLayout& layoutOf(std::size_t s) const { return *m_stretches.all[s]->level.layout; }
  std::size_t wiresBelow(std::size_t s) const { return m_stretches.all[s]->portsBelow.size(); }
  double lane(std::size_t s) const {
    return std::clamp(kWidestBundle / double(std::max<std::size_t>(wiresBelow(s), 1)), kLeastLane, kWidestLane);
  }
  double bundle(std::size_t s) const { return wiresBelow(s) == 0 ? 0 : double(wiresBelow(s) - 1) * lane(s); }

  // All stretches begin at the same height, below the wires that enter at the top of any of them.
  void placeStretches() {
    const std::size_t count = m_stretches.all.size();
    for (std::size_t s = 0; s + 1 < count; ++s) m_top = std::max(m_top, kBeforeTurn + bundle(s));
    double x = 0;
    for (std::size_t s = 0; s < count; ++s) {
      m_left.push_back(x);
      x += layoutOf(s).width;
      m_layout.height = std::max(m_layout.height, m_top + layoutOf(s).height);
      if (s + 1 == count) break;
      if (wiresBelow(s) > 0)
        m_layout.height = std::max(m_layout.height, m_top + layoutOf(s).height + kBeforeTurn + bundle(s));
      const double gutter = x + kBesideWires / 2;
      x += kBesideWires + bundle(s) + kBesideWires;
      m_layout.columns.push_back({gutter, x});
    }
    m_layout.width = x;
    for (std::size_t s = 0; s < count; ++s)
      if (layoutOf(s).engine == LayoutEngine::Graphviz) m_layout.engine = LayoutEngine::Graphviz;
  }

  PlacedPoint inWhole(std::size_t s, const PlacedPoint& point) const { return {point.x + m_left[s], point.y + m_top}; }

  // The level's own ports are at its border, not at that of their stretch.
  PlacedRect placed(int v) const {
    const std::size_t s = std::size_t(m_stretches.stretchOf[v]);
    PlacedRect rect = layoutOf(s).entities[m_stretches.indexInStretch[v]];
    const PlacedPoint corner = inWhole(s, {rect.x, rect.y});
    rect.x = corner.x;
    rect.y = corner.y;
    if (m_whole.graph.entities[v].kind == Kind::PortIn) rect.y = 0;
    if (m_whole.graph.entities[v].kind == Kind::PortOut) rect.y = m_layout.height;
    return rect;
  }

  PlacedEdge edge(int e) const {
    const bool reversed = m_whole.state.reversed[e];
    const LevelEdge& of = m_whole.graph.edges[e];
    const int upper = reversed ? of.to : of.from, lower = reversed ? of.from : of.to;
    PlacedEdge whole;
    const auto append = [&](const PlacedPoint& point) { appendLine(whole, point); };
    if (m_whole.graph.entities[upper].kind == Kind::PortIn) append({m_layout.entities[upper].x, 0});
    for (const Stretches::Piece& piece : m_stretches.pieces[e]) {
      const std::size_t s = std::size_t(piece.stretch);
      const std::vector<PlacedPoint>& points = layoutOf(s).edges[piece.edge].points;
      append(inWhole(s, points.front()));
      for (std::size_t i = 1; i < points.size(); ++i) whole.points.push_back(inWhole(s, points[i]));
      if (piece.wire >= 0) turn(s, std::size_t(piece.wire), whole);
    }
    if (m_whole.graph.entities[lower].kind == Kind::PortOut) append({m_layout.entities[lower].x, m_layout.height});
    if (reversed) std::reverse(whole.points.begin(), whole.points.end());
    return whole;
  }

  // Draws a wire from the end of stretch `s` to the top of the next one. The wire that leaves furthest to the right
  // turns first, runs up furthest to the left, and enters above all others.
  void turn(std::size_t s, std::size_t wire, PlacedEdge& edge) const {
    const Stretch &above = *m_stretches.all[s], &next = *m_stretches.all[s + 1];
    const PlacedRect& from = above.level.layout->entities[above.portsBelow[wire]];
    const PlacedRect& to = next.level.layout->entities[next.portsAbove[wire]];
    const double begin = inWhole(s, {from.x, from.y}).x, end = inWhole(s + 1, {to.x, to.y}).x;
    const double fromRight = double(wiresBelow(s) - 1 - wire) * lane(s), fromLeft = double(wire) * lane(s);
    const double down = m_top + layoutOf(s).height + kBeforeTurn + fromRight, up = m_top - kBeforeTurn - fromLeft;
    const double across = m_left[s] + layoutOf(s).width + kBesideWires + fromRight;
    appendWay(edge, {{begin, down}, {across, down}, {across, up}, {end, up}, {end, m_top}});
  }

  const Level& m_whole;
  const Stretches& m_stretches;
  LevelLayout m_layout;
  std::vector<double> m_left;  // of each stretch
  double m_top = 0;            // of all of them
};

}  // namespace

LevelLayout joined(const Level& whole, const Stretches& stretches) {
  return Joining(whole, stretches).run();
}

Result<LevelLayout> drawWrapped(const Level& level, const Cuts& cuts, const DrawStretch& draw) {
  const Stretches stretches = stretchesOf(level, cuts);
  for (const auto& stretch : stretches.all) TRY(draw(stretch->level));
  return joined(level, stretches);
}

}  // namespace fusescope
