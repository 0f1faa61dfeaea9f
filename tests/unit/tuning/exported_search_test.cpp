#include <gtest/gtest.h>

#include "tests/unit/tuning/synthetic_oracle.h"
#include "tuning/exported_search.h"

namespace fusescope::test {
namespace {

/// A check by which the exported network's error is `error` of the set.
CheckExported checkBy(const SyntheticOracle::Number& error, double limit, int& asked) {
  return [=, &asked](const PinSet& pins) -> Result<ExportedCheck> {
    ++asked;
    ExportedCheck check{.numbers = CheckedNumbers{.samples = 1}};
    check.numbers->onReference.worst = error(pins);
    check.ok = check.error() <= limit;
    return check;
  };
}

struct Network {
  std::vector<double> ofNodes;
  SyntheticOracle oracle{std::vector<std::uint32_t>(ofNodes.size(), 1), rootOfSquares(ofNodes), msOfPins};
  TuneMemory memory{};
  ExportedSearch searched(const TuneGoal& goal, const CheckExported& check) {
    auto found = tuneSearchExported(oracle, goal, memory, {}, check);
    EXPECT_TRUE(found.ok());
    return std::move(found).value();
  }
};

TEST(ExportedSearch, WhatHoldsAtOnceIsTaken) {
  Network network{{0.5, 0.4, 0.3, 0.2, 0.1}};
  int asked = 0;
  const auto found = network.searched({.maxError = 0.4}, checkBy(rootOfSquares(network.ofNodes), 0.4, asked));
  EXPECT_TRUE(found.result.ok);
  EXPECT_EQ(found.result.chosen.pins, (PinSet{0, 1}));
  EXPECT_EQ(found.searchLimit, 0.4);
  EXPECT_EQ(asked, 1);
}

TEST(ExportedSearch, WhatIsWorseOnceExportedIsNoAnswer) {
  Network network{{0.5, 0.4, 0.3, 0.2, 0.1}};
  const auto twice = [&](const PinSet& pins) { return 2 * rootOfSquares(network.ofNodes)(pins); };
  int asked = 0;
  const auto found = network.searched({.maxError = 0.4}, checkBy(twice, 0.4, asked));
  EXPECT_TRUE(found.result.ok);
  EXPECT_TRUE(found.result.minimal);
  EXPECT_EQ(found.result.chosen.pins.size(), 4U) << "of no three pinned nodes the rest comes to 0.2";
  ASSERT_TRUE(found.exported && found.exported->numbers);
  EXPECT_LE(found.exported->error(), 0.4);
  EXPECT_LT(*found.searchLimit, 0.4);
  EXPECT_GT(asked, 1);
}

/// The search for less error reaches nothing, but what it comes nearest with is as good as was asked for.
TEST(ExportedSearch, WhatIsLeftOfATighterSearchMayHold) {
  Network network{{0.5, 0.3, 0.1}};
  const auto error = [](const PinSet& pins) { return pins.size() == 3 ? 0.3 : 0.4 - 0.01 * double(pins.size()); };
  network.oracle = SyntheticOracle({1, 1, 1}, error, msOfPins);
  int asked = 0;
  const auto found = network.searched(
      {.maxError = 0.4}, checkBy([](const PinSet& pins) { return pins.size() == 3 ? 0.35 : 4.0; }, 0.4, asked));
  EXPECT_TRUE(found.result.ok);
  EXPECT_EQ(found.result.chosen.pins, (PinSet{0, 1, 2}));
  EXPECT_FALSE(found.result.minimal);
  EXPECT_DOUBLE_EQ(found.exported->error(), 0.35);
}

TEST(ExportedSearch, WhereNothingHoldsItSaysSo) {
  Network network{{0.5, 0.4, 0.3, 0.2, 0.1}};
  int asked = 0;
  const auto found = network.searched({.maxError = 0.4}, checkBy([](const PinSet&) { return INFINITY; }, 0.4, asked));
  EXPECT_FALSE(found.result.ok);
  EXPECT_FALSE(found.result.minimal);
  ASSERT_TRUE(found.exported);
  EXPECT_FALSE(found.exported->ok);
  EXPECT_GT(asked, 1);
  EXPECT_LE(asked, 8);
}

/// Limits are those of all that is done: what is beyond it when they are reached is not searched on from.
TEST(ExportedSearch, NoSearchFollowsOneThatALimitEnded) {
  Network network{{0.5, 0.4, 0.3, 0.2, 0.1}};
  int asked = 0;
  const auto found =
      network.searched({.maxError = 0.4, .evaluations = 4}, checkBy([](const PinSet&) { return 1.0; }, 0.4, asked));
  EXPECT_FALSE(found.result.ok);
  EXPECT_EQ(found.result.end, TuneEnd::Evaluations);
  EXPECT_EQ(asked, 1);
}

TEST(ExportedSearch, AStoppedCheckLeavesWhatWasFound) {
  Network network{{0.5, 0.4, 0.3, 0.2, 0.1}};
  const auto found = network.searched(
      {.maxError = 0.4}, [](const PinSet&) -> Result<ExportedCheck> { return Diagnostic::cancellation(); });
  EXPECT_TRUE(found.result.ok);
  EXPECT_EQ(found.result.chosen.pins, (PinSet{0, 1}));
  EXPECT_EQ(found.result.end, TuneEnd::Stopped);
  EXPECT_FALSE(found.exported);
}

/// What an export cannot be made of for another reason is told, and is no reason to search on.
TEST(ExportedSearch, WhatCannotBeToldIsNotHeldAgainstASet) {
  Network network{{0.5, 0.4, 0.3, 0.2, 0.1}};
  const auto found = network.searched(
      {.maxError = 0.4}, [](const PinSet&) -> Result<ExportedCheck> { return ExportedCheck{.whyNot = "no file"}; });
  EXPECT_TRUE(found.result.ok);
  EXPECT_EQ(found.exported->whyNot, "no file");
}

}  // namespace
}  // namespace fusescope::test
