#include <cmath>

#include "layout/level.h"

namespace fusescope {
namespace {

constexpr double kTouching = 0.01;

bool samePoint(const PlacedPoint& a, const PlacedPoint& b) {
  return std::abs(a.x - b.x) < kTouching && std::abs(a.y - b.y) < kTouching;
}

// Whether the chain ends with a vertical straight piece at `x`, which can then just be made longer.
bool endsWithVerticalAt(const PlacedEdge& edge, double x) {
  const auto n = edge.points.size();
  if (n < 4) return false;
  for (std::size_t i = n - 4; i < n; ++i) {
    if (std::abs(edge.points[i].x - x) > kTouching) return false;
  }
  return true;
}

}  // namespace

void appendLine(PlacedEdge& edge, PlacedPoint to) {
  if (edge.points.empty()) {
    edge.points.push_back(to);
    return;
  }
  if (samePoint(edge.points.back(), to)) return;
  if (endsWithVerticalAt(edge, to.x)) edge.points.resize(edge.points.size() - 3);
  const PlacedPoint from = edge.points.back();
  const auto between = [&](double t) {
    return PlacedPoint{from.x + (to.x - from.x) * t, from.y + (to.y - from.y) * t};
  };
  edge.points.push_back(between(1.0 / 3));
  edge.points.push_back(between(2.0 / 3));
  edge.points.push_back(to);
}

void appendCurve(PlacedEdge& edge, PlacedPoint to) {
  if (edge.points.empty() || std::abs(edge.points.back().x - to.x) < 0.5) {
    appendLine(edge, to);
    return;
  }
  const PlacedPoint from = edge.points.back();
  const double bend = (to.y - from.y) * 0.55;
  edge.points.push_back({from.x, from.y + bend});
  edge.points.push_back({to.x, to.y - bend});
  edge.points.push_back(to);
}

}  // namespace fusescope
