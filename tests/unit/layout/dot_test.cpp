// When dot is asked for a level, what becomes of its answer, and what goes over the wire to the process that has it.
#include <gtest/gtest.h>

#include "base/json.h"
#include "layout/drawing_quality.h"
#include "layout/level.h"
#include "layout/level_cache.h"

namespace fusescope {
namespace {

/// Each of `n` boxes feeds each of `n` others: whoever draws that crosses wires.
LayoutGraph dense(int n, int parent = -1) {
  LayoutGraph graph;
  for (int i = 0; i < 2 * n; ++i) graph.boxes.push_back({std::to_string(i), 100, 40, parent});
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) graph.edges.push_back({i, n + j});
  return graph;
}

struct Asked {
  std::vector<LevelGraph> levels;
  std::function<std::optional<LevelLayout>(const LevelLayout&)> answer = [](const LevelLayout& l) { return l; };
  LayoutOptions options() {
    return {.dot = [this](const LevelGraph& level) -> std::optional<LevelLayout> {
      levels.push_back(level);
      const auto drawn = layOutWithDot(level);
      return drawn ? answer(*drawn) : std::nullopt;
    }};
  }
};

TEST(Dot, IsAskedOnlyWhereTheLayeredLayoutCrosses) {
  LayoutGraph chain = dense(1);
  Asked asked;
  EXPECT_EQ(layOut(chain, asked.options()).value().engine, LayoutEngine::Layered);
  EXPECT_TRUE(asked.levels.empty());
  ASSERT_TRUE(layOut(dense(3), asked.options()).ok());
  EXPECT_EQ(asked.levels.size(), 1U);
}

TEST(Dot, WhatCrossesLessIsTaken) {
  const LayoutGraph graph = dense(4);
  const LayoutGeometry layered = layOut(graph).value();
  ASSERT_GT(qualityOf(layered.edges).crossings, 0U);
  Asked none;  // an answer without a crossing: all edges on one line
  none.answer = [](LevelLayout layout) {
    for (PlacedEdge& edge : layout.edges) edge.points = {{0, 0}, {0, 1}, {0, 2}, {0, 3}};
    return layout;
  };
  const LayoutGeometry better = layOut(graph, none.options()).value();
  EXPECT_EQ(better.engine, LayoutEngine::Graphviz);
  EXPECT_EQ(qualityOf(better.edges).crossings, 0U);
  Asked usual;
  const LayoutGeometry taken = layOut(graph, usual.options()).value();
  EXPECT_LE(qualityOf(taken.edges).crossings, qualityOf(layered.edges).crossings);
}

TEST(Dot, ThatDoesNotAnswerLeavesTheLayeredLayout) {
  const LayoutGraph graph = dense(4);
  Asked silent;
  silent.answer = [](const LevelLayout&) { return std::nullopt; };
  EXPECT_EQ(layOut(graph, silent.options()).value(), layOut(graph).value());
  EXPECT_EQ(silent.levels.size(), 1U);
}

TEST(Dot, WhatWasDrawnWithoutItStaysSo) {
  const LayoutGraph graph = dense(4);
  LevelCache cache;
  Asked late, inTime;
  late.answer = [](const LevelLayout&) { return std::nullopt; };
  inTime.answer = [](LevelLayout layout) {
    for (PlacedEdge& edge : layout.edges) edge.points = {{0, 0}, {0, 1}, {0, 2}, {0, 3}};
    return layout;
  };
  const auto with = [&](Asked& asked) {
    LayoutOptions options = asked.options();
    options.cache = &cache;
    return layOut(graph, options).value();
  };
  const LayoutGeometry first = with(late);
  EXPECT_EQ(with(inTime), first) << "never two layouts of one thing, one after the other";
  EXPECT_TRUE(inTime.levels.empty());
}

TEST(Dot, IsNotAskedForWhatTakesItLong) {
  Asked asked;
  LayoutGraph many = dense(3);
  for (int i = 0; i < 400; ++i) {  // a chain beside it
    many.boxes.push_back({"c" + std::to_string(i), 100, 40, -1});
    if (i > 0) many.edges.push_back({6 + i - 1, 6 + i});
  }
  ASSERT_TRUE(layOut(many, asked.options()).ok());
  EXPECT_TRUE(asked.levels.empty()) << "too many boxes";
  LayoutGraph longEdges = dense(3);
  for (int i = 0; i < 120; ++i) {
    longEdges.boxes.push_back({"c" + std::to_string(i), 100, 40, -1});
    if (i > 0) longEdges.edges.push_back({6 + i - 1, 6 + i});
    if (i > 1) longEdges.edges.push_back({6, 6 + i});
  }
  ASSERT_TRUE(layOut(longEdges, asked.options()).ok());
  EXPECT_TRUE(asked.levels.empty()) << "edges that pass too many ranks";
}

TEST(LevelJson, RoundTripsGraphsAndLayouts) {
  LevelGraph level;
  level.entities = {{.kind = LevelEntity::Kind::PortIn},
                    {.width = 120, .height = 40.5},
                    {.width = 90, .height = 60},
                    {.kind = LevelEntity::Kind::PortOut}};
  level.edges = {{.from = 0, .to = 1, .toX = 12.25}, {.from = 1, .to = 2, .fromX = 7}, {.from = 2, .to = 3}};
  level.portsIn = {0};
  level.portsOut = {3};
  const Result<LevelGraph> back = levelGraphFromJson(Json::parse(toJson(level).dump()));
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_EQ(toJson(back.value()).dump(), toJson(level).dump());
  EXPECT_EQ(back.value().edges[0].toX, 12.25);
  EXPECT_FALSE(back.value().edges[0].fromX);
  const std::optional<LevelLayout> layout = layOutWithDot(level);
  ASSERT_TRUE(layout);
  const Result<LevelLayout> read = levelLayoutFromJson(Json::parse(toJson(*layout).dump()));
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(toJson(read.value()).dump(), toJson(*layout).dump());
}

TEST(LevelJson, RefusesWhatIsNotALevel) {
  LevelGraph level;
  level.entities = {{.kind = LevelEntity::Kind::PortIn}, {.width = 9, .height = 9}};
  level.edges = {{.from = 0, .to = 1}};
  level.portsIn = {0};
  const Json good = Json::parse(toJson(level).dump());
  ASSERT_TRUE(levelGraphFromJson(good).ok());
  for (const char* key : {"format", "version", "entities", "edges", "ports_in", "ports_out"}) {
    Json bad = good;
    bad.erase(key);
    EXPECT_FALSE(levelGraphFromJson(bad).ok()) << key;
  }
  const auto refuses = [&](const char* key, const Json& value) {
    Json bad = good;
    bad[key] = value;
    EXPECT_FALSE(levelGraphFromJson(bad).ok()) << key << ' ' << value.dump();
  };
  refuses("edges", Json::array({Json::array({0, 9, nullptr, nullptr})}));
  refuses("edges", Json::array({Json::array({0, 1})}));
  refuses("edges", Json::array({Json::array({0, 1, "a", nullptr})}));
  refuses("entities", Json::array({Json::array({7, 1, 1}), Json::array({0, 1, 1})}));
  refuses("entities", Json::array({Json::array({1, 1, 1}), Json::array({0, -4, 1})}));
  refuses("ports_in", Json::array({1}));
  refuses("ports_out", Json::array({5}));
  EXPECT_FALSE(levelGraphFromJson(Json("text")).ok());
  EXPECT_FALSE(levelLayoutFromJson(good).ok());
}

}  // namespace
}  // namespace fusescope
