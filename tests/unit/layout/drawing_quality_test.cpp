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

TEST(DrawingQuality, WhatLiesOnTopOfEachOtherCountsOnce) {
  const PlacedEdge down = straight({{0, 0}, {30, 40}}), up = straight({{30, 0}, {0, 40}});
  const DrawingQuality quality = qualityOf({down, up, up, up});
  EXPECT_EQ(quality.crossings, 1U);
  EXPECT_DOUBLE_EQ(quality.length, 50 + 50);
}

/// Two wires into a container that cross above it, and two that pass it and cross there as well.
TEST(DrawingQuality, CrossingsAtABorderAreOfWiresThatPassIt) {
  LayoutGraph graph;
  graph.containers = {{"c", -1}};
  for (int i = 0; i < 8; ++i) graph.boxes.push_back({std::to_string(i), 10, 10, i == 2 || i == 3 ? 0 : -1});
  graph.edges = {{0, 2}, {1, 3}, {4, 6}, {5, 7}};
  LayoutGeometry geometry;
  geometry.containers = {{0, 100, 200, 100}};
  geometry.edges = {straight({{10, 50}, {60, 100}}), straight({{60, 50}, {10, 100}}), straight({{310, 50}, {360, 100}}),
                    straight({{360, 50}, {310, 100}})};
  EXPECT_EQ(qualityOf(geometry.edges).crossings, 2U);
  EXPECT_EQ(crossingsAtBorders(graph, geometry), 1U);
  geometry.containers[0].y = 900;
  geometry.containers[0].height = 400;
  EXPECT_EQ(crossingsAtBorders(graph, geometry), 0U) << "far from the border";
}

}  // namespace
}  // namespace fusescope
