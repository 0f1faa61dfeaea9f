// The order of the ports on the border of an open container: as the outside has its wires, whatever the order in which
// edges are given, so that they cross neither before the border nor behind it where nobody needs them to.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "layout/drawing_quality.h"
#include "layout/hierarchy.h"
#include "layout/level_cache.h"
#include "tests/unit/layout/sound_layout.h"

namespace fusescope {
namespace {

LayoutGraph boxes(const std::vector<int>& parents) {
  LayoutGraph graph;
  for (std::size_t i = 0; i < parents.size(); ++i)
    graph.boxes.push_back({"b" + std::to_string(i), 140, 60, parents[i]});
  return graph;
}

std::size_t crossings(const LayoutGraph& graph) {
  const Result<LayoutGeometry> geometry = layOut(graph);
  EXPECT_TRUE(geometry.ok());
  return geometry.ok() ? qualityOf(geometry.value().edges).crossings : 99;
}

/// Attention as a planner draws it: one norm, an open projection with Q, K and V in it, and an open kernel that
/// multiplies Q and K, adds a mask from elsewhere, and multiplies by V.
LayoutGraph attention() {
  //                        0 norm, 1 mask, 2-4 projections, 5-7 their views, 8 Q·K, 9 mask added, 10 ·V, 11 output
  LayoutGraph graph = boxes({-1, -1, 0, 0, 0, 1, 1, 1, 1, 1, 1, -1});
  graph.containers = {{"projection", -1}, {"attention", -1}};
  graph.edges = {{0, 2}, {0, 3}, {0, 4}, {2, 5},  {3, 6},  {4, 7},  {5, 8},
                 {6, 8}, {8, 9}, {1, 9}, {9, 10}, {7, 10}, {10, 11}};
  return graph;
}

TEST(Ports, WiresBetweenTwoOpenContainersDoNotCross) {
  std::vector<int> reader{4, 5, 6, 7};
  do {
    LayoutGraph graph = boxes({0, 0, 0, 0, 1, 1, 1, 1});
    graph.containers = {{"a", -1}, {"b", -1}};
    for (int i = 0; i < 4; ++i) graph.edges.push_back({i, reader[std::size_t(i)]});
    EXPECT_EQ(crossings(graph), 0U) << reader[0] << reader[1] << reader[2] << reader[3];
  } while (std::next_permutation(reader.begin(), reader.end()));
}

TEST(Ports, AttentionCrossesNothingInWhateverOrderItsEdgesCome) {
  LayoutGraph graph = attention();
  for (std::size_t turn = 0; turn < graph.edges.size(); ++turn) {
    EXPECT_EQ(crossings(graph), 0U) << turn;
    std::rotate(graph.edges.begin(), graph.edges.begin() + 1, graph.edges.end());
  }
}

/// The wires from left, middle and right arrive so, even where the inside would have them otherwise: there they cross.
TEST(Ports, TheOutsideSaysAndTheInsideFollows) {
  // 0-2 stand side by side, each with a reader outside that keeps it there; in the container 3 reads 2, 5 reads 0.
  LayoutGraph graph = boxes({-1, -1, -1, 0, 0, 0, -1});
  graph.containers = {{"c", -1}};
  graph.edges = {{6, 0}, {6, 1}, {6, 2}, {2, 3}, {1, 4}, {0, 5}, {3, 4}};
  Hierarchy hierarchy = hierarchyOf(graph);
  ASSERT_TRUE(orderHierarchy(hierarchy, {}).ok());
  const Level& top = hierarchy.levels[std::size_t(hierarchy.top())];
  const Level& inside = hierarchy.levels[0];
  ASSERT_EQ(inside.graph.portsIn.size(), 3U);
  EXPECT_EQ(inside.state.ranks.front(), inside.graph.portsIn);
  std::vector<int> sources;  // of the ports from left to right: where they stand outside
  for (const int port : inside.graph.portsIn) {
    for (const LevelEdge& edge : top.graph.edges)
      if (edge.toPort == port) sources.push_back(top.state.position[std::size_t(edge.from)]);
  }
  EXPECT_TRUE(std::is_sorted(sources.begin(), sources.end()));
}

TEST(Ports, StandInTheirOrderOnTheBorderWhoeverDrawsTheLevel) {
  LevelGraph level;
  for (int i = 0; i < 5; ++i) level.entities.push_back({.kind = LevelEntity::Kind::PortIn});
  for (int i = 0; i < 5; ++i) level.entities.push_back({.width = 120, .height = 60});
  for (int i = 0; i < 5; ++i) level.edges.push_back({.from = i, .to = 5 + (i * 2) % 5});
  level.portsIn = {3, 0, 4, 1, 2};
  const std::optional<LevelLayout> dot = layOutWithDot(level);
  ASSERT_TRUE(dot);
  for (std::size_t i = 1; i < level.portsIn.size(); ++i)
    EXPECT_LT(dot->entities[std::size_t(level.portsIn[i - 1])].x, dot->entities[std::size_t(level.portsIn[i])].x) << i;
}

/// A container in a container in a container, whose wires come from the top and go back to it.
TEST(Ports, HoldThroughSeveralBorders) {
  LayoutGraph graph = boxes({-1, -1, -1, 2, 2, 2, -1, -1, -1});
  graph.containers = {{"a", -1}, {"b", 0}, {"c", 1}};
  graph.edges = {{0, 5}, {1, 3}, {2, 4}, {5, 7}, {3, 8}, {4, 6}};
  EXPECT_EQ(crossings(graph), 0U);
}

/// What leaves a container comes back into it, so that one of the two wires is turned round: it ends at the other side
/// of the container, and runs there in its frame.
TEST(Ports, AWireThatIsTurnedRoundRunsAlongTheAxes) {
  LayoutGraph graph = boxes({0, 0, -1, 0, -1, 0});
  graph.containers = {{"c", -1}};
  graph.edges = {{0, 1}, {0, 2}, {2, 3}, {1, 3}, {3, 4}, {4, 5}, {1, 5}};
  const LayoutGeometry geometry = layOut(graph).value();
  test::expectSound(graph, geometry);
  EXPECT_TRUE(test::slantingEdges(geometry).empty());
  EXPECT_TRUE(test::edgesThroughBoxes(graph, geometry).empty());
  const PlacedRect& frame = geometry.containers[0];
  std::size_t beside = 0;  // wires that run up or down between the border and what is inside
  for (const PlacedEdge& edge : geometry.edges)
    for (std::size_t i = 0; i + 3 < edge.points.size(); i += 3) {
      const PlacedPoint &from = edge.points[i], &to = edge.points[i + 3];
      const bool isInFrame =
          (from.x > frame.x && from.x < frame.x + graph.containers[0].padding) ||
          (from.x < frame.x + frame.width && from.x > frame.x + frame.width - graph.containers[0].padding);
      beside += isInFrame && from.x == to.x && from.y != to.y;
    }
  EXPECT_GE(beside, 2U);
}

TEST(Ports, NoWireSlantsInAnyNestOfContainers) {
  std::mt19937 random(7);
  const auto upTo = [&](int most) { return std::uniform_int_distribution<int>(0, most)(random); };
  for (int turn = 0; turn < 60; ++turn) {
    SCOPED_TRACE(turn);
    const int containers = 1 + upTo(4), count = 6 + upTo(40);
    LayoutGraph graph;
    for (int c = 0; c < containers; ++c) graph.containers.push_back({"c" + std::to_string(c), upTo(c) - 1});
    std::vector<int> parents;
    for (int i = 0; i < count; ++i) parents.push_back(upTo(containers) - 1);
    LayoutGraph with = boxes(parents);
    with.containers = graph.containers;
    for (int i = 1; i < count; ++i) with.edges.push_back({upTo(i - 1), i});
    for (int i = 0; i < count / 2; ++i) {
      const int to = 1 + upTo(count - 2);
      with.edges.push_back({upTo(to - 1), to});
    }
    for (const double proportion : {0.0, 1.4}) {
      const auto geometry = layOut(with, {.proportion = proportion});
      ASSERT_TRUE(geometry.ok());
      test::expectSound(with, geometry.value());
      EXPECT_TRUE(test::slantingEdges(geometry.value()).empty());
    }
  }
}

TEST(Ports, OneLevelByItselfHasThemInTheOrderThatItNames) {
  using Kind = LevelEntity::Kind;
  std::vector<int> ports{2, 3, 4};
  do {
    LevelGraph level;  // two boxes, a wire into each and one past both
    level.entities = {{.width = 140, .height = 60}, {.width = 140, .height = 60}, {.kind = Kind::PortIn},
                      {.kind = Kind::PortIn},       {.kind = Kind::PortIn},       {.kind = Kind::PortOut}};
    level.edges = {{2, 0}, {3, 1}, {4, 5}, {0, 5}, {1, 5}};
    level.portsIn = ports;
    LevelCache cache;
    const auto first = layOutLevel(level, {.cache = &cache});
    ASSERT_TRUE(first.ok());
    const auto x = [&](int port) { return first.value()->entities[std::size_t(port)].x; };
    EXPECT_LT(x(ports[0]), x(ports[1]));
    EXPECT_LT(x(ports[1]), x(ports[2]));
    EXPECT_EQ(qualityOf(first.value()->edges).crossings, 0U);
    EXPECT_EQ(layOutLevel(level, {.cache = &cache}).value(), first.value())
        << "a level that is known is not drawn again";
  } while (std::next_permutation(ports.begin(), ports.end()));
}

}  // namespace
}  // namespace fusescope
