#include "layout/drawing_quality.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace fusescope {
namespace {

constexpr double kBorderReach = 130;  // slightly more than the widest gap between two ranks

struct Piece {
  PlacedPoint a, b;
  std::size_t edge = 0;
  double top() const { return std::min(a.y, b.y); }
  double bottom() const { return std::max(a.y, b.y); }
};

/// Returns a positive number if c is on one side of the line from a to b, and a negative one if it is on the other.
double sideOf(const PlacedPoint& a, const PlacedPoint& b, const PlacedPoint& c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

bool cross(const Piece& p, const Piece& q) {
  return sideOf(p.a, p.b, q.a) * sideOf(p.a, p.b, q.b) < 0 && sideOf(q.a, q.b, p.a) * sideOf(q.a, q.b, p.b) < 0;
}

std::vector<Piece> piecesOf(const std::vector<PlacedEdge>& edges) {
  std::vector<Piece> pieces;
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const std::vector<PlacedPoint>& points = edges[e].points;
    for (std::size_t i = 0; i + 3 < points.size(); i += 3) pieces.push_back({points[i], points[i + 3], e});
  }
  const auto key = [](const Piece& p) { return std::tuple(p.top(), p.a.x, p.a.y, p.b.x, p.b.y); };
  std::stable_sort(pieces.begin(), pieces.end(), [&](const Piece& p, const Piece& q) { return key(p) < key(q); });
  const auto same = [&](const Piece& p, const Piece& q) { return key(p) == key(q); };
  pieces.erase(std::unique(pieces.begin(), pieces.end(), same), pieces.end());
  return pieces;
}

template <class Found>
void forEachCrossing(const std::vector<Piece>& pieces, const Found& found) {
  for (std::size_t i = 0; i < pieces.size(); ++i)
    for (std::size_t j = i + 1; j < pieces.size() && pieces[j].top() <= pieces[i].bottom(); ++j)
      if (pieces[i].edge != pieces[j].edge && cross(pieces[i], pieces[j])) found(pieces[i], pieces[j]);
}

double heightOfCrossing(const Piece& p, const Piece& q) {
  const double a = sideOf(q.a, q.b, p.a), b = sideOf(q.a, q.b, p.b);
  return p.a.y + (p.b.y - p.a.y) * a / (a - b);
}

/// Returns, by container, which edges cross its border.
std::vector<std::vector<bool>> passing(const LayoutGraph& graph) {
  std::vector<std::vector<bool>> passes(graph.containers.size(), std::vector<bool>(graph.edges.size(), false));
  for (std::size_t e = 0; e < graph.edges.size(); ++e) {
    for (const int box : {graph.edges[e].from, graph.edges[e].to})
      for (int c = graph.boxes[box].parent; c >= 0; c = graph.containers[c].parent) passes[c][e] = !passes[c][e];
  }
  return passes;
}

}  // namespace

DrawingQuality qualityOf(const std::vector<PlacedEdge>& edges) {
  const std::vector<Piece> pieces = piecesOf(edges);
  DrawingQuality quality;
  for (const PlacedEdge& edge : edges) quality.bends += edge.points.size() > 4 ? (edge.points.size() - 1) / 3 - 1 : 0;
  for (const Piece& piece : pieces) quality.length += std::hypot(piece.b.x - piece.a.x, piece.b.y - piece.a.y);
  forEachCrossing(pieces, [&](const Piece&, const Piece&) { ++quality.crossings; });
  return quality;
}

std::size_t crossingsAtBorders(const LayoutGraph& graph, const LayoutGeometry& geometry) {
  const std::vector<std::vector<bool>> passes = passing(graph);
  std::size_t count = 0;
  forEachCrossing(piecesOf(geometry.edges), [&](const Piece& p, const Piece& q) {
    const double y = heightOfCrossing(p, q);
    for (std::size_t c = 0; c < graph.containers.size(); ++c) {
      const PlacedRect& rect = geometry.containers[c];
      const bool near = std::abs(y - rect.y) < kBorderReach || std::abs(y - rect.y - rect.height) < kBorderReach;
      if (!near || !passes[c][p.edge] || !passes[c][q.edge]) continue;
      ++count;
      return;
    }
  });
  return count;
}

}  // namespace fusescope
