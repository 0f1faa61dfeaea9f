// From a set of which nothing can be left out to a smaller one that lies elsewhere.
#include "tuning/smaller_sets.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace fusescope::test {
namespace {

/// Switches in a row; right where a whole set of `cures` is off and none of the switches that spoil it.
struct Row {
  std::uint32_t switches;
  std::vector<SwitchSet> cures;
  std::size_t most = 1000;  ///< sets that may be tried
  SwitchSet spoilers{};     ///< none of these may be off
  std::vector<SwitchSet> tried{};

  SmallerSet smallerThan(const SwitchSet& known, SwitchSet beginnings = {}) {
    SwitchPlaces places{.neighbours = std::vector<SwitchSet>(switches), .beginnings = std::move(beginnings)};
    for (std::uint32_t i = 0; i + 1 < switches; ++i) {
      places.neighbours[i].push_back(i + 1);
      places.neighbours[i + 1].push_back(i);
    }
    const auto error = [this](const SwitchSet& off) -> Result<double> {
      if (std::ranges::find(tried, off) == tried.end()) {
        if (tried.size() >= most) return Diagnostic::cancellation();
        tried.push_back(off);
      }
      const auto isOff = [&](const SwitchSet& cure) { return std::ranges::includes(off, cure); };
      const auto isSpoiler = [&](std::uint32_t i) { return std::ranges::binary_search(spoilers, i); };
      return std::ranges::any_of(cures, isOff) && std::ranges::none_of(off, isSpoiler) ? 0.0 : 1.0;
    };
    auto found = smallerSet(known, places, error, 0.5);
    EXPECT_TRUE(found.ok());
    return std::move(found).value();
  }
};

TEST(SmallerSets, OneThatLiesElsewhereIsFoundByHalves) {
  Row row{.switches = 200, .cures = {{3, 4, 5, 6}, {150}}};
  const SmallerSet found = row.smallerThan({3, 4, 5, 6});
  EXPECT_EQ(found.off, SwitchSet{150});
  EXPECT_TRUE(found.smallest);
  EXPECT_LT(row.tried.size(), 30U);
}

/// Where two sets overlap, or where more spoils it, halves do not find the smaller one: sets that lie together do.
TEST(SmallerSets, OneThatOverlapsIsFoundByTryingWhatLiesTogether) {
  Row row{.switches = 12, .cures = {{3, 4, 5}, {5, 6}}};
  const SmallerSet found = row.smallerThan({3, 4, 5});
  EXPECT_EQ(found.off, (SwitchSet{5, 6}));
  EXPECT_TRUE(found.smallest);
  Row spoiled{.switches = 12, .cures = {{1, 2, 3}, {8}}, .most = 1000, .spoilers = {10, 11}};
  EXPECT_EQ(spoiled.smallerThan({1, 2, 3}).off, SwitchSet{8});
}

TEST(SmallerSets, WhereThereIsNoneThatIsKnown) {
  Row row{.switches = 12, .cures = {{3, 4, 5}}};
  const SmallerSet found = row.smallerThan({3, 4, 5});
  EXPECT_EQ(found.off, (SwitchSet{3, 4, 5}));
  EXPECT_TRUE(found.smallest);
  EXPECT_EQ(row.tried.size(), 1U + 12 + 11) << "what remains, each switch, and each pair of neighbours";
  EXPECT_EQ(row.tried[1], SwitchSet{3}) << "the nearest first";
  Row one{.switches = 12, .cures = {{3}}};
  EXPECT_TRUE(one.smallerThan({3}).smallest) << "none is smaller";
  EXPECT_TRUE(one.tried.empty());
}

TEST(SmallerSets, ABudgetEndsItWithWhatIsKnown) {
  Row row{.switches = 12, .cures = {{3, 4, 5}, {11}}, .most = 2, .spoilers = {10}};
  const SmallerSet found = row.smallerThan({3, 4, 5});
  EXPECT_EQ(found.off, (SwitchSet{3, 4, 5}));
  EXPECT_FALSE(found.smallest);
}

/// Two nodes that every part holds: what is added to them lies beside them.
TEST(SmallerSets, BeginWhereTheyAreTold) {
  Row row{.switches = 12, .cures = {{3, 4, 5}, {9}}, .most = 1000, .spoilers = {11}};
  EXPECT_EQ(row.smallerThan({3, 4, 5}, {2, 6}).off, (SwitchSet{3, 4, 5})) << "9 is beside neither";
  EXPECT_EQ(row.tried.size(), 1U + 2 + 5) << "{2}, {6}, {1 2}, {2 3}, {2 6}, {5 6}, {6 7}";
}

}  // namespace
}  // namespace fusescope::test
