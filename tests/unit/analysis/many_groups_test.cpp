#include "analysis/many_groups.h"

#include <gtest/gtest.h>

#include "analysis/set_groups.h"

namespace fusescope {
namespace {

using Places = std::vector<std::uint32_t>;

TEST(ManyGroups, AreTheSmallestThatCoverTheSameThingsOnAllSides) {
  const std::vector<SideSets> sides{{{0, 1}, {2}, {3}}, {{1, 0}, {2, 3}}, {{0}, {1}, {2}, {3}}};
  const auto groups = groupManySets(sides);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].sets, (std::vector<Places>{{0}, {0}, {0, 1}}));
  EXPECT_EQ(groups[1].sets, (std::vector<Places>{{1, 2}, {1}, {2, 3}}));
  EXPECT_FALSE(groups[0].same);
}

TEST(ManyGroups, AreTheSameWhereEverySideHasTheSameSets) {
  const std::vector<SideSets> same{{{0, 1}}, {{1, 0}}, {{0, 1}}}, one{{{0, 1}}, {{0, 1}}, {{0}, {1}}};
  EXPECT_TRUE(groupManySets(same).front().same);
  EXPECT_FALSE(groupManySets(one).front().same);
}

TEST(ManyGroups, ASideMayCoverNothing) {
  const std::vector<SideSets> sides{{{0}}, {}, {{0}, {1}}};
  const auto groups = groupManySets(sides);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_TRUE(groups[0].sets[1].empty());
  EXPECT_FALSE(groups[0].same);
  EXPECT_EQ(groups[1].sets[2], Places{1});
}

TEST(ManyGroups, OfTwoSidesAreThoseOfSetGroups) {
  const SideSets a{{0, 1}, {2}, {3, 4, 5}, {6}, {}}, b{{1, 0}, {2, 3}, {4}, {5}, {7}};
  const std::vector<SideSets> sides{a, b};
  const auto many = groupManySets(sides);
  const auto two = groupSets(a, b);
  ASSERT_EQ(many.size(), two.size());
  for (std::size_t i = 0; i < many.size(); ++i) {
    EXPECT_EQ(many[i].sets[0], two[i].a);
    EXPECT_EQ(many[i].sets[1], two[i].b);
    EXPECT_EQ(many[i].same, two[i].same);
  }
}

}  // namespace
}  // namespace fusescope
