#include <algorithm>
#include <cmath>
#include <cstddef>

#include "layout/level.h"

namespace fusescope {
namespace {

constexpr double kTouching = 0.01;
constexpr double kCornerRadius = 8;        // of the corners of a path
constexpr double kCornerControl = 0.5523;  // control points of a cubic that resembles a quarter of a circle

bool samePoint(const PlacedPoint& a, const PlacedPoint& b) {
  return std::abs(a.x - b.x) < kTouching && std::abs(a.y - b.y) < kTouching;
}

// Whether the chain ends with a vertical straight piece at `x`, which can then be extended.
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

void appendWay(PlacedEdge& edge, const std::vector<PlacedPoint>& corners) {
  const auto towards = [](const PlacedPoint& from, const PlacedPoint& to, double by) {
    const double length = std::abs(to.x - from.x) + std::abs(to.y - from.y);
    const double t = length == 0 ? 0 : std::min(by / length, 0.5);
    return PlacedPoint{from.x + (to.x - from.x) * t, from.y + (to.y - from.y) * t};
  };
  for (std::size_t i = 0; i + 1 < corners.size(); ++i) {
    const PlacedPoint &at = corners[i], &next = corners[i + 1], before = edge.points.back();
    const PlacedPoint begin = towards(at, before, kCornerRadius), end = towards(at, next, kCornerRadius);
    appendLine(edge, begin);
    const PlacedPoint reached = edge.points.back();
    edge.points.push_back(
        {reached.x + (at.x - reached.x) * kCornerControl, reached.y + (at.y - reached.y) * kCornerControl});
    edge.points.push_back({end.x + (at.x - end.x) * kCornerControl, end.y + (at.y - end.y) * kCornerControl});
    edge.points.push_back(end);
  }
  appendLine(edge, corners.back());
}

}  // namespace fusescope
