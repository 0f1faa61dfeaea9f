#pragma once

#include <gtest/gtest.h>

#include <cmath>

#include "layout/layout.h"

namespace fusescope::test {

inline bool overlap(const PlacedRect& a, const PlacedRect& b) {
  constexpr double kSlack = 0.5;
  return a.x + a.width > b.x + kSlack && b.x + b.width > a.x + kSlack && a.y + a.height > b.y + kSlack &&
         b.y + b.height > a.y + kSlack;
}

inline bool holds(const PlacedRect& outer, const PlacedRect& inner) {
  constexpr double kSlack = 0.5;
  return inner.x >= outer.x - kSlack && inner.y >= outer.y - kSlack &&
         inner.x + inner.width <= outer.x + outer.width + kSlack &&
         inner.y + inner.height <= outer.y + outer.height + kSlack;
}

inline bool onBorder(const PlacedRect& rect, const PlacedPoint& point) {
  constexpr double kSlack = 1.0;
  const bool across = point.x >= rect.x - kSlack && point.x <= rect.x + rect.width + kSlack;
  const bool atTop = std::abs(point.y - rect.y) <= kSlack;
  const bool atBottom = std::abs(point.y - rect.y - rect.height) <= kSlack;
  return across && (atTop || atBottom);
}

inline void expectSound(const LayoutGraph& graph, const LayoutGeometry& geometry) {
  ASSERT_EQ(geometry.boxes.size(), graph.boxes.size());
  ASSERT_EQ(geometry.containers.size(), graph.containers.size());
  ASSERT_EQ(geometry.edges.size(), graph.edges.size());
  for (std::size_t i = 0; i < graph.boxes.size(); ++i) {
    EXPECT_NEAR(geometry.boxes[i].width, graph.boxes[i].width, 0.02);
    EXPECT_NEAR(geometry.boxes[i].height, graph.boxes[i].height, 0.02);
    if (graph.boxes[i].parent >= 0) {
      EXPECT_TRUE(holds(geometry.containers[graph.boxes[i].parent], geometry.boxes[i])) << graph.boxes[i].id;
    }
    for (std::size_t j = i + 1; j < graph.boxes.size(); ++j) {
      EXPECT_FALSE(overlap(geometry.boxes[i], geometry.boxes[j])) << graph.boxes[i].id << ", " << graph.boxes[j].id;
    }
    for (std::size_t c = 0; c < graph.containers.size(); ++c) {
      bool inside = false;
      for (int p = graph.boxes[i].parent; p >= 0; p = graph.containers[p].parent) inside |= p == int(c);
      if (!inside) {
        EXPECT_FALSE(overlap(geometry.boxes[i], geometry.containers[c]))
            << graph.boxes[i].id << ", " << graph.containers[c].id;
      }
    }
  }
  for (std::size_t c = 0; c < graph.containers.size(); ++c) {
    if (graph.containers[c].parent >= 0) {
      EXPECT_TRUE(holds(geometry.containers[graph.containers[c].parent], geometry.containers[c]));
    }
  }
  for (std::size_t e = 0; e < graph.edges.size(); ++e) {
    const auto& points = geometry.edges[e].points;
    ASSERT_GE(points.size(), 4U) << "edge " << e;
    ASSERT_EQ(points.size() % 3, 1U);
    EXPECT_TRUE(onBorder(geometry.boxes[graph.edges[e].from], points.front())) << "edge " << e;
    EXPECT_TRUE(onBorder(geometry.boxes[graph.edges[e].to], points.back())) << "edge " << e;
  }
}

/// The edges with a piece that begins or ends neither along the x axis nor along the y axis: straight lines that slant,
/// and corners. The layered layout has none but on boxes that feed themselves.
inline std::vector<std::size_t> slantingEdges(const LayoutGeometry& geometry) {
  constexpr double kAlong = 0.05;  // px
  const auto slants = [](const PlacedPoint& a, const PlacedPoint& b) {
    return std::abs(a.x - b.x) > kAlong && std::abs(a.y - b.y) > kAlong;
  };
  std::vector<std::size_t> slanting;
  for (std::size_t e = 0; e < geometry.edges.size(); ++e) {
    const std::vector<PlacedPoint>& p = geometry.edges[e].points;
    for (std::size_t i = 0; i + 3 < p.size(); i += 3) {
      if (!slants(p[i], p[i + 1]) && !slants(p[i + 2], p[i + 3])) continue;
      slanting.push_back(e);
      break;
    }
  }
  return slanting;
}

/// The edges that run through boxes which they do not end at.
inline std::vector<std::size_t> edgesThroughBoxes(const LayoutGraph& graph, const LayoutGeometry& geometry) {
  std::vector<std::size_t> through;
  for (std::size_t e = 0; e < graph.edges.size(); ++e) {
    const std::vector<PlacedPoint>& p = geometry.edges[e].points;
    bool hits = false;
    for (std::size_t i = 0; i + 3 < p.size() && !hits; i += 3) {
      for (int step = 0; step <= 16 && !hits; ++step) {
        const double t = step / 16.0, u = 1 - t;
        const auto at = [&](double a, double b, double c, double d) {
          return a * u * u * u + 3 * b * u * u * t + 3 * c * u * t * t + d * t * t * t;
        };
        const double x = at(p[i].x, p[i + 1].x, p[i + 2].x, p[i + 3].x);
        const double y = at(p[i].y, p[i + 1].y, p[i + 2].y, p[i + 3].y);
        for (std::size_t b = 0; b < graph.boxes.size() && !hits; ++b) {
          const PlacedRect& box = geometry.boxes[b];
          const bool isEnd = int(b) == graph.edges[e].from || int(b) == graph.edges[e].to;
          hits = !isEnd && x > box.x + 1 && x < box.x + box.width - 1 && y > box.y + 1 && y < box.y + box.height - 1;
        }
      }
    }
    if (hits) through.push_back(e);
  }
  return through;
}

}  // namespace fusescope::test
