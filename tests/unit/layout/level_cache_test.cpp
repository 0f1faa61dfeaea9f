// Levels that did not change are not laid out again; the cache that remembers them compares whole keys and is bounded.
#include "layout/level_cache.h"

#include <gtest/gtest.h>

namespace fusescope {
namespace {

/// Two containers side by side, a chain of four in each, the second a little wider; a box feeds both.
LayoutGraph sideBySide() {
  LayoutGraph graph;
  graph.containers = {{"a", -1}, {"b", -1}};
  for (int i = 0; i < 8; ++i) graph.boxes.push_back({std::to_string(i), i < 4 ? 100.0 : 110.0, 40, i / 4});
  graph.boxes.push_back({"source", 100, 40, -1});
  graph.edges = {{0, 1}, {1, 2}, {2, 3}, {4, 5}, {5, 6}, {6, 7}, {8, 0}, {8, 4}};
  return graph;
}

LayoutGeometry with(const LayoutGraph& graph, LevelCache& cache) {
  return layOut(graph, {.cache = &cache}).value();
}

TEST(LevelCache, ALevelThatDidNotChangeIsNotLaidOutAgain) {
  LevelCache cache;
  LayoutGraph graph = sideBySide();
  const LayoutGeometry first = with(graph, cache);
  EXPECT_EQ(cache.misses(), 3U) << "a, b, and what they stand in";
  EXPECT_EQ(first, layOut(graph).value());
  EXPECT_EQ(with(graph, cache), first);
  EXPECT_EQ(cache.misses(), 3U);

  graph.boxes[2].width = 180;  // in a: b stays as it is
  EXPECT_EQ(with(graph, cache), layOut(graph).value());
  EXPECT_EQ(cache.misses(), 5U);

  graph.containers.push_back({"c", 1});  // a box of b is opened: a stays as it is
  graph.boxes[5].parent = 2;
  EXPECT_EQ(with(graph, cache), layOut(graph).value());
  EXPECT_EQ(cache.misses(), 8U) << "c, b, and what they stand in";

  graph = sideBySide();  // all as it was
  EXPECT_EQ(with(graph, cache), first);
  EXPECT_EQ(cache.misses(), 8U);
}

TEST(LevelCache, EqualLevelsOfOneGraphAreLaidOutOnce) {
  LevelCache cache;
  LayoutGraph graph = sideBySide();
  for (LayoutBox& box : graph.boxes) box.width = 100;
  with(graph, cache);
  EXPECT_EQ(cache.misses(), 2U);
  EXPECT_EQ(cache.hits(), 1U);
}

TEST(LevelCache, KeysTellAllApartThatALayoutDependsOn) {
  LevelGraph level;
  level.entities = {{.width = 9, .height = 9}, {.width = 9, .height = 9}};
  level.edges = {{.from = 0, .to = 1}};
  const std::vector<std::vector<int>> order{{0}, {1}};
  std::vector<std::string> keys{levelKey(level, order)};
  const auto changed = [&](const auto& change) {
    LevelGraph other = level;
    change(other);
    keys.push_back(levelKey(other, order));
  };
  changed([](LevelGraph& l) { l.entities[0].width = 9.5; });
  changed([](LevelGraph& l) { l.entities[1].height = 9.5; });
  changed([](LevelGraph& l) { l.entities[0].kind = LevelEntity::Kind::PortIn; });
  changed([](LevelGraph& l) { l.edges.push_back({.from = 0, .to = 1}); });
  changed([](LevelGraph& l) { l.edges[0] = {.from = 1, .to = 0}; });
  changed([](LevelGraph& l) { l.edges[0].fromX = 0; });
  changed([](LevelGraph& l) { l.edges[0].toX = 0; });
  keys.push_back(levelKey(level, {{0, 1}}));
  keys.push_back(levelKey(level, {{1}, {0}}));
  keys.push_back(levelKey(level, order, {1}));
  LevelCache cache;
  for (const std::string& key : keys) {
    EXPECT_EQ(cache.find(key), nullptr);
    cache.keep(key, std::make_shared<LevelLayout>());
  }
  EXPECT_EQ(cache.size(), keys.size());
}

TEST(LevelCache, IsBoundedAndForgetsWhatWasUsedLongestAgo) {
  const auto layout = [] {
    auto of = std::make_shared<LevelLayout>();
    of->entities.resize(30);
    return of;
  };
  LevelCache cache(10'000);
  cache.keep("kept in use", layout());
  for (int i = 0; i < 50; ++i) {
    cache.keep("level " + std::to_string(i), layout());
    EXPECT_NE(cache.find("kept in use"), nullptr) << i;
    EXPECT_LE(cache.bytes(), 10'000U);
  }
  EXPECT_GT(cache.size(), 3U);
  EXPECT_NE(cache.find("level 49"), nullptr);
  EXPECT_EQ(cache.find("level 0"), nullptr);
  const std::size_t before = cache.size();
  auto large = std::make_shared<LevelLayout>();
  large->entities.resize(1'000);
  cache.keep("too large", large);
  EXPECT_EQ(cache.size(), before);
}

TEST(LevelCache, WhatWasStoppedIsNotKept) {
  LevelCache cache;
  std::stop_source source;
  LayoutOptions options{.cache = &cache, .stop = source.get_token()};
  LayoutGraph graph;  // three feed three: dot is asked, and while it works nobody wants the picture any more
  for (int i = 0; i < 6; ++i) graph.boxes.push_back({std::to_string(i), 100, 40, -1});
  for (int i = 0; i < 9; ++i) graph.edges.push_back({i / 3, 3 + i % 3});
  options.dot = [&](const LevelGraph&) {
    source.request_stop();
    return std::nullopt;
  };
  const Result<LayoutGeometry> geometry = layOut(graph, options);
  ASSERT_FALSE(geometry.ok());
  EXPECT_TRUE(geometry.error().cancelled);
  EXPECT_EQ(cache.size(), 0U);
}

}  // namespace
}  // namespace fusescope
