#include "layout/layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/support/metered/allocations.h"
#include "tests/unit/layout/sound_layout.h"

namespace fusescope {
namespace {

using test::expectSound;
using test::overlap;

// A chain with skip connections: `n` boxes, every third one also feeds the box four further on.
LayoutGraph residual(int n, int parent = -1) {
  LayoutGraph graph;
  for (int i = 0; i < n; ++i) graph.boxes.push_back({"b" + std::to_string(i), 140.0 + (i * 37) % 90, 60, parent});
  for (int i = 0; i + 1 < n; ++i) graph.edges.push_back({i, i + 1});
  for (int i = 0; i + 4 < n; i += 3) graph.edges.push_back({i, i + 4});
  return graph;
}

// A segment with three fused nodes that are open, boxes outside above and below, and edges across every border.
LayoutGraph nested() {
  LayoutGraph graph;
  graph.containers = {{"segment", -1}, {"f0", 0}, {"f1", 0}, {"f2", 0}};
  for (int i = 0; i < 14; ++i) {
    const int parent = i == 0 || i == 13 ? -1 : i < 4 ? 1 : i < 8 ? 2 : i < 11 ? 3 : 0;
    graph.boxes.push_back({"b" + std::to_string(i), 150, 60, parent});
  }
  for (int i = 0; i < 13; ++i) graph.edges.push_back({i, i + 1});
  graph.edges.insert(graph.edges.end(), {{0, 12}, {1, 9}, {2, 6}, {3, 13}, {5, 11}, {5, 12}});
  return graph;
}

// A random acyclic graph over all the containers of nested().
LayoutGraph randomGraph(unsigned seed) {
  std::mt19937 random(seed);
  LayoutGraph graph;
  graph.containers = {{"a", -1}, {"b", 0}, {"c", 0}, {"d", 2}, {"e", -1}};
  for (int i = 0; i < 60; ++i) {
    graph.boxes.push_back(
        {"b" + std::to_string(i), 60.0 + random() % 200, 30.0 + random() % 40, int(random() % 6) - 1});
  }
  for (int i = 0; i < 90; ++i) {
    const int a = int(random() % 60), b = int(random() % 60);
    if (a != b) graph.edges.push_back({a, b});  // between containers this may well close cycles
  }
  return graph;
}

LayoutGeometry layered(const LayoutGraph& graph) {
  Result<LayoutGeometry> geometry = layOut(graph);
  EXPECT_TRUE(geometry.ok()) << (geometry.ok() ? "" : geometry.error().text());
  return std::move(geometry).value();
}

TEST(Layered, IsSoundForResidualChains) {
  const LayoutGraph graph = residual(80);
  const LayoutGeometry geometry = layered(graph);
  EXPECT_EQ(geometry.engine, LayoutEngine::Layered);
  expectSound(graph, geometry);
}

TEST(Layered, DrawsAChainAsAStraightLine) {
  LayoutGraph graph = residual(12);
  graph.edges.resize(11);
  const LayoutGeometry geometry = layered(graph);
  const double centre = geometry.boxes[0].x + geometry.boxes[0].width / 2;
  for (std::size_t i = 0; i < graph.boxes.size(); ++i) {
    EXPECT_NEAR(geometry.boxes[i].x + geometry.boxes[i].width / 2, centre, 0.5);
    if (i == 0) continue;
    EXPECT_GT(geometry.boxes[i].y, geometry.boxes[i - 1].y + geometry.boxes[i - 1].height);
  }
}

TEST(Layered, KeepsTheMainPathStraightBesideASkip) {
  LayoutGraph graph;
  for (int i = 0; i < 5; ++i) graph.boxes.push_back({std::to_string(i), 160, 60});
  graph.edges = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {0, 3}};
  const LayoutGeometry geometry = layered(graph);
  for (int i = 1; i < 5; ++i) EXPECT_NEAR(geometry.boxes[i].x, geometry.boxes[0].x, 0.5);
  // The skip runs beside the boxes it passes, not through them.
  for (const PlacedPoint& p : geometry.edges[4].points) {
    const bool beyondFirst = p.y > geometry.boxes[1].y && p.y < geometry.boxes[2].y + 60;
    if (!beyondFirst) continue;
    EXPECT_TRUE(p.x <= geometry.boxes[1].x || p.x >= geometry.boxes[1].x + 160) << p.x << ", " << p.y;
  }
}

TEST(Layered, IsSoundForNestedContainers) {
  const LayoutGraph graph = nested();
  expectSound(graph, layered(graph));
}

TEST(Layered, IsSoundForRandomGraphsWithCycles) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    const LayoutGraph graph = randomGraph(seed);
    expectSound(graph, layered(graph));
  }
}

TEST(Layered, IsSoundForLonelyBoxesAndEmptyContainers) {
  LayoutGraph graph;
  graph.containers = {{"empty", -1}, {"full", -1}};
  for (int i = 0; i < 30; ++i) graph.boxes.push_back({std::to_string(i), 100, 40, i % 2 == 0 ? -1 : 1});
  const LayoutGeometry geometry = layered(graph);
  expectSound(graph, geometry);
  EXPECT_LT(geometry.width, 2000) << "lonely boxes stand in rows";
}

TEST(Layered, GivesTheSameAnswerTwice) {
  const LayoutGraph graph = randomGraph(7);
  EXPECT_EQ(layered(graph), layered(graph));
}

TEST(Layered, EqualContainersHaveEqualInsides) {
  LayoutGraph graph;
  graph.containers = {{"a", -1}, {"b", -1}};
  for (int i = 0; i < 8; ++i) graph.boxes.push_back({std::to_string(i), 100, 40, i / 4});
  graph.edges = {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {4, 5}, {4, 6}, {5, 7}, {6, 7}};
  const LayoutGeometry geometry = layered(graph);
  for (int i = 0; i < 4; ++i) {
    EXPECT_NEAR(geometry.boxes[i].x - geometry.containers[0].x, geometry.boxes[i + 4].x - geometry.containers[1].x,
                1e-6);
    EXPECT_NEAR(geometry.boxes[i].y - geometry.containers[0].y, geometry.boxes[i + 4].y - geometry.containers[1].y,
                1e-6);
  }
}

TEST(Layered, PlacesTenThousandBoxesWithoutOverlap) {
  const LayoutGraph graph = residual(10'000);
  const LayoutGeometry geometry = layered(graph);
  // Boxes of a residual chain are in reading order: a box may only meet one of its neighbours.
  for (std::size_t i = 0; i < graph.boxes.size(); ++i) {
    for (std::size_t j = i + 1; j < std::min(i + 8, graph.boxes.size()); ++j) {
      ASSERT_FALSE(overlap(geometry.boxes[i], geometry.boxes[j])) << i << ", " << j;
    }
  }
}

/// How often a layout of the boxes asks for memory.
long askedFor(int boxes) {
  const LayoutGraph graph = residual(boxes);
  const long before = test::allocations();
  EXPECT_EQ(layered(graph).boxes.size(), static_cast<std::size_t>(boxes));
  return test::allocations() - before;
}

TEST(Layered, ItsWorkGrowsAsTheBoxesDo) {
  const long some = askedFor(20'000), many = askedFor(100'000);
  EXPECT_LE(many, 6 * some) << "five times the boxes";
}

TEST(Layered, StaysSmallWhenOneBoxFeedsAll) {
  LayoutGraph graph = residual(5'000);
  for (int i = 2; i < 5'000; i += 10) graph.edges.push_back({0, i});
  const LayoutGeometry geometry = layered(graph);
  std::size_t points = 0;
  for (const PlacedEdge& edge : geometry.edges) points += edge.points.size();
  EXPECT_LT(points, 2'000'000U);
}

TEST(Layered, StopsWhenAsked) {
  std::stop_source source;
  source.request_stop();
  const Result<LayoutGeometry> geometry = layOut(residual(1000), {.stop = source.get_token()});
  ASSERT_FALSE(geometry.ok());
  EXPECT_TRUE(geometry.error().cancelled);
}

TEST(Layered, RefusesImpossibleGraphs) {
  LayoutGraph inside;
  inside.containers = {{"a", 1}, {"b", 0}};
  ASSERT_FALSE(layOut(inside).ok());
  EXPECT_EQ(layOut(inside).error().message, "container 'a' is inside itself");
  LayoutGraph edge = residual(2);
  edge.edges.push_back({0, 9});
  EXPECT_FALSE(layOut(edge).ok());
  LayoutGraph size = residual(2);
  size.boxes[0].width = std::nan("");
  EXPECT_FALSE(layOut(size).ok());
}

}  // namespace
}  // namespace fusescope
