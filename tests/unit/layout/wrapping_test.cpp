// Levels far higher than the picture wants stand in columns: read from the top to the bottom, then to the right, with
// wires in the gutters that cross nothing.
#include "layout/wrapping.h"

#include <gtest/gtest.h>

#include <random>

#include "layout/drawing_quality.h"
#include "layout/level_cache.h"
#include "tests/support/metered/allocations.h"
#include "tests/unit/layout/sound_layout.h"

namespace fusescope {
namespace {

/// A chain in a container, between an input and an output; every third box also feeds the one four further on.
LayoutGraph residualChain(int boxes) {
  LayoutGraph graph;
  graph.containers = {{"segment", -1}};
  for (int i = 0; i < boxes; ++i)
    graph.boxes.push_back({"b" + std::to_string(i), 140.0 + (i * 37) % 90, 60, i == 0 || i == boxes - 1 ? -1 : 0});
  for (int i = 0; i + 1 < boxes; ++i) graph.edges.push_back({i, i + 1});
  for (int i = 0; i + 4 < boxes; i += 3) graph.edges.push_back({i, i + 4});
  return graph;
}

LayoutGeometry placed(const LayoutGraph& graph, double proportion, const EarlierPicture& earlier = {}) {
  auto geometry = layOut(graph, {.proportion = proportion, .earlier = earlier});
  if (!geometry.ok()) ADD_FAILURE() << geometry.error().text();
  return std::move(geometry).value();
}

void expectSoundAndClear(const LayoutGraph& graph, const LayoutGeometry& geometry) {
  test::expectSound(graph, geometry);
  EXPECT_TRUE(test::edgesThroughBoxes(graph, geometry).empty());
  EXPECT_TRUE(test::slantingEdges(geometry).empty());
  const PlacedRect all{-0.5, -0.5, geometry.width + 1, geometry.height + 1};
  for (const PlacedEdge& edge : geometry.edges)
    for (const PlacedPoint& point : edge.points) EXPECT_TRUE(test::holds(all, {point.x, point.y, 0, 0}));
}

TEST(Wrapping, ADeepLevelTakesTheProportion) {
  const LayoutGraph graph = residualChain(300);
  EXPECT_LT(placed(graph, 0).width, 400) << "nothing is wrapped unless it is asked for";
  for (const double proportion : {0.5, 0.7, 1.4, 2.8}) {
    SCOPED_TRACE(proportion);
    const LayoutGeometry geometry = placed(graph, proportion);
    expectSoundAndClear(graph, geometry);
    EXPECT_GT(geometry.width / geometry.height, proportion * 0.6);
    EXPECT_LT(geometry.width / geometry.height, proportion * 1.6);
    ASSERT_EQ(geometry.columns.size(), 1U) << "only the container is wrapped";
    EXPECT_EQ(geometry.columns.begin()->first, 0);
  }
}

TEST(Wrapping, IsReadDownAndThenToTheRight) {
  const LayoutGraph graph = residualChain(300);
  const LayoutGeometry geometry = placed(graph, 1.4);
  std::size_t columns = 1;
  for (std::size_t i = 2; i + 1 < graph.boxes.size(); ++i) {
    const PlacedRect &before = geometry.boxes[i - 1], &box = geometry.boxes[i];
    if (box.y > before.y + before.height) continue;
    ++columns;
    EXPECT_GT(box.x, before.x + before.width) << "box " << i << " begins a column";
    EXPECT_NEAR(box.y, geometry.boxes[1].y, 60) << "at its top";
  }
  EXPECT_EQ(columns, geometry.columns.at(0).size() + 1);
  EXPECT_GT(columns, 3U);
}

TEST(Wrapping, WiresInTheGuttersCrossNothing) {
  LayoutGraph graph = residualChain(200);
  for (int i = 0; i + 30 < 200; i += 40) graph.edges.push_back({i, i + 30});  // these pass cuts, several at once
  for (int i = 5; i + 33 < 200; i += 40) graph.edges.push_back({i, i + 33});
  const LayoutGeometry geometry = placed(graph, 1.4);
  expectSoundAndClear(graph, geometry);
  EXPECT_LE(qualityOf(geometry.edges).crossings, qualityOf(placed(graph, 0).edges).crossings);
}

TEST(Wrapping, IsCutWhereFewWiresPass) {
  LayoutGraph graph;  // blocks of seven; all of a block are read by its last
  for (int i = 0; i < 231; ++i) graph.boxes.push_back({"b" + std::to_string(i), 160, 60, -1});
  for (int i = 0; i + 1 < 231; ++i) graph.edges.push_back({i, i + 1});
  for (int i = 0; i < 231; ++i)
    if (i % 7 < 5) graph.edges.push_back({i, i / 7 * 7 + 6});
  const LayoutGeometry geometry = placed(graph, 1.4);
  expectSoundAndClear(graph, geometry);
  ASSERT_FALSE(geometry.columns.empty());
  for (int i = 1; i < 231; ++i) {
    if (geometry.boxes[i].y < geometry.boxes[i - 1].y) {
      EXPECT_LE(i % 7, 1) << "a column begins with box " << i << ", before which more than one wire passes";
    }
  }
}

TEST(Wrapping, InputsStandAtTheTopAndOutputsAtTheBottom) {
  LayoutGraph graph = residualChain(200);
  graph.boxes.push_back({"mask", 100, 40, -1});
  graph.boxes.push_back({"early", 100, 40, -1});
  for (int i = 20; i < 200; i += 40) graph.edges.push_back({200, i});  // read in every column
  graph.edges.push_back({10, 201});                                    // made in the first one
  const LayoutGeometry geometry = placed(graph, 1.4);
  expectSoundAndClear(graph, geometry);
  const PlacedRect& container = geometry.containers[0];
  EXPECT_LT(geometry.boxes[200].y + geometry.boxes[200].height, container.y);
  EXPECT_GT(geometry.boxes[201].y, container.y + container.height);
  for (std::size_t e = 0; e < graph.edges.size(); ++e) {
    for (const PlacedPoint& point : geometry.edges[e].points) {
      if (point.x < container.x - 1 || point.x > container.x + container.width + 1) {
        EXPECT_TRUE(point.y <= container.y + 1 || point.y >= container.y + container.height - 1) << "edge " << e;
      }
    }
  }
}

TEST(Wrapping, WhatIsLowStaysAsItIs) {
  for (const int boxes : {2, 4, 6}) EXPECT_EQ(placed(residualChain(boxes), 1.4), placed(residualChain(boxes), 0));
  LayoutGraph wide;  // high, but as wide
  for (int i = 0; i < 64; ++i) wide.boxes.push_back({std::to_string(i), 200, 60, -1});
  for (int i = 8; i < 64; ++i) wide.edges.push_back({i - 8, i});
  EXPECT_EQ(placed(wide, 1.4), placed(wide, 0));
}

TEST(Wrapping, OneContainerOfManyIsCutToTheHeightOfThePage) {
  LayoutGraph graph;  // six chains after each other, of which one is as long as all others
  for (int c = 0; c < 6; ++c) graph.containers.push_back({"c" + std::to_string(c), -1});
  for (int c = 0; c < 6; ++c)
    for (int i = 0; i < (c == 2 ? 80 : 16); ++i) graph.boxes.push_back({std::to_string(c * 100 + i), 180, 60, c});
  for (int i = 1; i < int(graph.boxes.size()); ++i) graph.edges.push_back({i - 1, i});
  const LayoutGeometry geometry = placed(graph, 1.4);
  expectSoundAndClear(graph, geometry);
  EXPECT_TRUE(geometry.columns.contains(2));
  EXPECT_FALSE(geometry.columns.contains(1));
  EXPECT_GT(geometry.width / geometry.height, 0.7);
  EXPECT_LT(geometry.width / geometry.height, 2.8);
}

TEST(Wrapping, IsSoundForRandomGraphsWithContainersAndCycles) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    LayoutGraph graph = residualChain(240);
    graph.containers.insert(graph.containers.end(), {{"a", 0}, {"b", 1}, {"c", 0}, {"d", -1}});
    for (LayoutBox& box : graph.boxes)
      if (random() % 3 == 0) box.parent = int(random() % 6) - 1;
    for (int i = 0; i < 60; ++i) {
      const int from = int(random() % 240), to = int(random() % 240);
      if (from != to) graph.edges.push_back({from, to});
    }
    test::expectSound(graph, placed(graph, 1.4));
  }
}

/// So many edges pass so many ranks that most of them run outside.
TEST(Wrapping, WhatRunsOutsideFindsItsWay) {
  LayoutGraph graph = residualChain(700);
  for (int i = 1; i + 300 < 699; ++i) graph.edges.push_back({i, i + 300});
  const LayoutGeometry geometry = placed(graph, 1.4);
  test::expectSound(graph, geometry);
  EXPECT_GT(geometry.columns.at(0).size(), 2U);
}

TEST(Wrapping, ItsWorkGrowsAsTheBoxesDo) {
  const auto asksFor = [](int boxes) {
    const LayoutGraph graph = residualChain(boxes);
    const long before = test::allocations();
    EXPECT_FALSE(placed(graph, 1.4).columns.empty());
    return test::allocations() - before;
  };
  EXPECT_LE(asksFor(100'000), 7 * asksFor(20'000)) << "five times the boxes";
}

TEST(Wrapping, GivesTheSameAnswerTwiceAndFromTheCache) {
  const LayoutGraph graph = residualChain(200);
  LevelCache cache;
  const LayoutGeometry first = layOut(graph, {.cache = &cache, .proportion = 1.4}).value();
  EXPECT_EQ(first, placed(graph, 1.4));
  const std::size_t laidOut = cache.misses();
  EXPECT_EQ(layOut(graph, {.cache = &cache, .proportion = 1.4}).value(), first);
  EXPECT_EQ(cache.misses(), laidOut);
  EXPECT_NE(layOut(graph, {.cache = &cache, .proportion = 0.5}).value(), first);
  EXPECT_EQ(layOut(graph, {.cache = &cache}).value(), placed(graph, 0));
}

// ---- the picture before
// ----------------------------------------------------------------------------------------------

EarlierPicture pictureOf(const LayoutGraph& graph, const LayoutGeometry& geometry, double proportion) {
  return {.rectOf = [&graph, &geometry](const std::string& id) -> std::optional<PlacedRect> {
            for (std::size_t b = 0; b < graph.boxes.size(); ++b)
              if (graph.boxes[b].id == id) return geometry.boxes[b];
            for (std::size_t c = 0; c < graph.containers.size(); ++c)
              if (graph.containers[c].id == id) return geometry.containers[c];
            return std::nullopt;
          },
          .proportion = proportion};
}

TEST(EarlierPicture, BoxesKeepTheirOrder) {
  LayoutGraph graph;  // a source, five in one rank that nothing tells apart, a sink
  for (int i = 0; i < 7; ++i) graph.boxes.push_back({std::to_string(i), 100, 40, -1});
  for (int i = 1; i < 6; ++i) graph.edges.insert(graph.edges.end(), {{0, i}, {i, 6}});
  LayoutGeometry before = placed(graph, 0);
  const int order[] = {3, 1, 5, 2, 4};
  for (int i = 0; i < 5; ++i) before.boxes[order[i]].x = 200 * i;
  const LayoutGeometry after = placed(graph, 0, pictureOf(graph, before, 0));
  for (int i = 0; i + 1 < 5; ++i) EXPECT_LT(after.boxes[order[i]].x, after.boxes[order[i + 1]].x);
}

TEST(EarlierPicture, AnOrderThatCrossesMuchMoreIsNotKept) {
  LayoutGraph graph;  // ten chains side by side
  for (int i = 0; i < 20; ++i) graph.boxes.push_back({std::to_string(i), 100, 40, -1});
  for (int i = 0; i < 10; ++i) graph.edges.push_back({i, 10 + i});
  LayoutGeometry before = placed(graph, 0);
  for (int i = 0; i < 10; ++i) before.boxes[10 + i].x = -before.boxes[i].x;
  const LayoutGeometry after = placed(graph, 0, pictureOf(graph, before, 0));
  EXPECT_EQ(qualityOf(after.edges).crossings, 0U);
}

TEST(EarlierPicture, WhatIsOpenedPushesApartAndReordersNothing) {
  LayoutGraph closed;  // a source, three branches, a sink; the middle one is opened
  for (int i = 0; i < 5; ++i) closed.boxes.push_back({std::to_string(i), 120, 40, -1});
  for (int i = 1; i < 4; ++i) closed.edges.insert(closed.edges.end(), {{0, i}, {i, 4}});
  LayoutGeometry before = placed(closed, 0);
  std::swap(before.boxes[1].x, before.boxes[3].x);
  LayoutGraph open = closed;
  open.containers = {{"2", -1}};
  open.boxes[2] = {"inner0", 120, 40, 0};
  open.boxes.push_back({"inner1", 120, 40, 0});
  open.edges = {{0, 1}, {1, 4}, {0, 2}, {2, 5}, {5, 4}, {0, 3}, {3, 4}};
  const LayoutGeometry after = placed(open, 0, pictureOf(closed, before, 0));
  const auto middle = [&](int box) { return after.boxes[box].x + after.boxes[box].width / 2; };
  EXPECT_LT(middle(3), middle(2));
  EXPECT_LT(middle(2), middle(1));
}

TEST(EarlierPicture, CutsStayWhereTheyWere) {
  LayoutGraph graph = residualChain(200);
  const auto firstOfColumns = [&](const LayoutGeometry& geometry) {
    std::vector<std::string> first;
    for (std::size_t i = 2; i + 1 < 200; ++i)
      if (geometry.boxes[i].y < geometry.boxes[i - 1].y) first.push_back(graph.boxes[i].id);
    return first;
  };
  const LayoutGraph old = graph;
  const LayoutGeometry before = placed(graph, 1.4);
  for (int i = 20; i < 24; ++i) graph.boxes[std::size_t(i)].height = 200;
  const LayoutGeometry anew = placed(graph, 1.4);
  ASSERT_NE(firstOfColumns(anew), firstOfColumns(before)) << "else there is nothing to keep";
  EXPECT_EQ(firstOfColumns(placed(graph, 1.4, pictureOf(old, before, 1.4))), firstOfColumns(before));
  EXPECT_EQ(firstOfColumns(placed(graph, 1.4, pictureOf(old, before, 0.7))), firstOfColumns(anew))
      << "another proportion";
  for (int i = 20; i < 30; ++i) graph.boxes[std::size_t(i)].height = 2'000;
  EXPECT_EQ(firstOfColumns(placed(graph, 1.4, pictureOf(old, before, 1.4))), firstOfColumns(placed(graph, 1.4)))
      << "far from the proportion";
}

}  // namespace
}  // namespace fusescope
