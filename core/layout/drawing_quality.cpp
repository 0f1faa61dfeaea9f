#include "layout/drawing_quality.h"

#include <algorithm>
#include <cmath>

namespace fusescope {
namespace {

struct Piece {
  PlacedPoint a, b;
  std::size_t edge = 0;
  double top() const { return std::min(a.y, b.y); }
  double bottom() const { return std::max(a.y, b.y); }
};

/// Positive where c is on one side of the line from a to b, negative on the other.
double sideOf(const PlacedPoint& a, const PlacedPoint& b, const PlacedPoint& c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

bool cross(const Piece& p, const Piece& q) {
  return sideOf(p.a, p.b, q.a) * sideOf(p.a, p.b, q.b) < 0 && sideOf(q.a, q.b, p.a) * sideOf(q.a, q.b, p.b) < 0;
}

}  // namespace

DrawingQuality qualityOf(const std::vector<PlacedEdge>& edges) {
  std::vector<Piece> pieces;
  DrawingQuality quality;
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const std::vector<PlacedPoint>& points = edges[e].points;
    quality.bends += points.size() > 4 ? (points.size() - 1) / 3 - 1 : 0;
    for (std::size_t i = 0; i + 3 < points.size(); i += 3) {
      pieces.push_back({points[i], points[i + 3], e});
      quality.length += std::hypot(points[i + 3].x - points[i].x, points[i + 3].y - points[i].y);
    }
  }
  std::sort(pieces.begin(), pieces.end(), [](const Piece& p, const Piece& q) { return p.top() < q.top(); });
  for (std::size_t i = 0; i < pieces.size(); ++i)
    for (std::size_t j = i + 1; j < pieces.size() && pieces[j].top() <= pieces[i].bottom(); ++j)
      if (pieces[i].edge != pieces[j].edge && cross(pieces[i], pieces[j])) ++quality.crossings;
  return quality;
}

}  // namespace fusescope
