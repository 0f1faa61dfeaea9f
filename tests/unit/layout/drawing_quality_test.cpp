// What layouts are compared by, on edges whose crossings can be counted by hand, and that the better one is taken.
#include "layout/drawing_quality.h"

#include <gtest/gtest.h>

namespace fusescope {
namespace {

PlacedEdge straight(std::vector<PlacedPoint> corners) {
  PlacedEdge edge{{corners[0]}};
  for (std::size_t i = 1; i < corners.size(); ++i)
    edge.points.insert(edge.points.end(), {corners[i - 1], corners[i], corners[i]});
  return edge;
}

TEST(DrawingQuality, CountsCrossingsBendsAndLength) {
  const PlacedEdge down = straight({{0, 0}, {30, 40}}), up = straight({{30, 0}, {0, 40}});
  const PlacedEdge bent = straight({{100, 0}, {100, 10}, {110, 10}});
  const DrawingQuality quality = qualityOf({down, up, bent});
  EXPECT_EQ(quality.crossings, 1U);
  EXPECT_EQ(quality.bends, 1U);
  EXPECT_DOUBLE_EQ(quality.length, 50 + 50 + 20);
  EXPECT_EQ(qualityOf({down, straight({{0, 0}, {0, 40}})}).crossings, 0U) << "edges of one source meet, not cross";
}

TEST(DrawingQuality, FewerCrossingsBeforeLength) {
  EXPECT_TRUE((DrawingQuality{1, 0, 900}.betterThan({2, 0, 100})));
  EXPECT_TRUE((DrawingQuality{1, 0, 90}.betterThan({1, 0, 100})));
  EXPECT_FALSE((DrawingQuality{1, 0, 100}.betterThan({1, 0, 100})));
}

/// Twelve readers of three sources, interleaved: what is drawn crosses no more than either layout alone would.
TEST(DrawingQuality, WhatGraphvizDrawsIsNeverWorseThanTheLayeredLayout) {
  for (int shift = 1; shift < 6; ++shift) {
    LayoutGraph graph;
    for (int i = 0; i < 15; ++i) graph.boxes.push_back({std::to_string(i), 100, 40, -1});
    for (int i = 3; i < 15; ++i) {
      graph.edges.push_back({(i * shift) % 3, i});
      graph.edges.push_back({(i + shift) % 3, i});
    }
    EXPECT_LE(qualityOf(layoutGraphviz(graph).value().edges).crossings,
              qualityOf(layoutLayered(graph).value().edges).crossings)
        << shift;
  }
}

}  // namespace
}  // namespace fusescope
