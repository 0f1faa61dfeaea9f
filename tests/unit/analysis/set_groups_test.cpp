#include "analysis/set_groups.h"

#include <gtest/gtest.h>

namespace fusescope {
namespace {

using Sets = std::vector<std::vector<std::uint32_t>>;

TEST(SetGroups, AreTheSmallestThatCoverTheSameThings) {
  const Sets a{{0, 1}, {2}, {3, 4, 5}, {6}}, b{{1, 0}, {2, 3}, {4}, {5}, {7}};
  const auto groups = groupSets(a, b);
  ASSERT_EQ(groups.size(), 4U);
  EXPECT_TRUE(groups[0].same) << "the order of the things in a set is all one";
  EXPECT_EQ(groups[1].a, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(groups[1].b, (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_FALSE(groups[1].same);
  EXPECT_EQ(groups[2].a, std::vector<std::uint32_t>{3});
  EXPECT_TRUE(groups[2].b.empty());
  EXPECT_TRUE(groups[3].a.empty());
  EXPECT_EQ(groups[3].b, std::vector<std::uint32_t>{4});
}

TEST(SetGroups, OneSetEachIsNotTheSameWhereOneHasMore) {
  EXPECT_FALSE(groupSets(Sets{{0, 1, 2}}, Sets{{0, 1}}).front().same);
  EXPECT_FALSE(groupSets(Sets{{0, 1}}, Sets{{0, 1, 2}}).front().same);
  EXPECT_FALSE(groupSets(Sets{{0, 1}}, Sets{{1, 2}}).front().same);
}

TEST(SetGroups, EmptySetsStandAlone) {
  const auto groups = groupSets(Sets{{}}, Sets{{}, {0}});
  ASSERT_EQ(groups.size(), 3U);
  for (const SetGroup& group : groups) EXPECT_FALSE(group.same);
}

TEST(SetGroups, SetsOfOneSideMayShareThings) {
  const auto groups = groupSets(Sets{{0, 1, 2}, {3}}, Sets{{0, 1}, {1, 2}, {3}, {3}});
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].b, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_FALSE(groups[0].same);
  EXPECT_EQ(groups[1].b, (std::vector<std::uint32_t>{2, 3}));
  EXPECT_FALSE(groups[1].same) << "one of the sides has the set twice";
}

TEST(SetGroups, OfCoveringsAreTheSameWhereAllTheirSetsAre) {
  const auto groups = groupSets(Sets{{0, 1}, {1, 2}, {4, 3}, {4}}, Sets{{2, 1}, {0, 1}, {3, 4}, {3}});
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_TRUE(groups[0].same);
  EXPECT_EQ(groups[0].a, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(groups[0].b, (std::vector<std::uint32_t>{1, 0})) << "each beside its like";
  EXPECT_FALSE(groups[1].same) << "of the two sets one is another";
  EXPECT_TRUE(groupSets(Sets{{5}, {5}}, Sets{{5}, {5}}).front().same);
}

}  // namespace
}  // namespace fusescope
