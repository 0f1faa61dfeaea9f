#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random_numbers.h"
#include "tests/unit/tuning/synthetic_oracle.h"

namespace fusescope::test {
namespace {

TuneResult searched(SyntheticOracle& oracle, const TuneGoal& goal) {
  TuneMemory memory;
  auto result = tuneSearch(oracle, goal, memory);
  EXPECT_TRUE(result.ok());
  return std::move(result).value();
}

const TuneBaseline& baseline(const TuneResult& result, const std::string& name) {
  return *std::ranges::find(result.baselines, name, &TuneBaseline::name);
}

/// No single pin can be left out.
void expectMinimal(SyntheticOracle& oracle, const TuneResult& result, double maxError) {
  for (const std::uint32_t pin : result.chosen.pins) {
    PinSet left = result.chosen.pins;
    left.erase(pin);
    EXPECT_GT(oracle.error(left).value(), maxError) << "pin " << pin << " is not needed";
  }
}

TEST(TuneSearch, FindsTheTwoThatOverflow) {
  const auto error = [](const PinSet& pins) {
    return pins.contains(7) && pins.contains(31) ? 0.001 * static_cast<double>(40 - pins.size()) : INFINITY;
  };
  SyntheticOracle oracle({3, 3, 4, 5, 5, 2, 8, 1, 1, 8}, error, msOfPins);
  const TuneResult result = searched(oracle, {.maxError = 0.1});
  EXPECT_TRUE(result.ok);
  EXPECT_TRUE(result.minimal);
  EXPECT_EQ(result.chosen.pins, (PinSet{7, 31}));
  ASSERT_EQ(result.without.size(), 2U);
  for (const auto& without : result.without) EXPECT_EQ(without.error, INFINITY);
  EXPECT_EQ(baseline(result, "prefix").found->pins.size(), 32U) << "as far as the second";
  EXPECT_EQ(baseline(result, "suffix").found->pins.size(), 33U) << "as far as the first";
}

TEST(TuneSearch, FindsTheFewestWhereErrorsAddUp) {
  std::vector<double> ofNodes(24, 0.1);
  for (const int large : {3, 11, 20}) ofNodes[static_cast<std::size_t>(large)] = 2;
  SyntheticOracle oracle(std::vector<std::uint32_t>(24, 1), rootOfSquares(ofNodes), msOfPins);
  const double bound = 0.6;
  const TuneResult result = searched(oracle, {.maxError = bound});
  EXPECT_EQ(result.chosen.pins, (PinSet{3, 11, 20}));
  EXPECT_EQ(baseline(result, "greedy").found->pins, result.chosen.pins) << "as single nodes rank, so they are taken";
  expectMinimal(oracle, result, bound);
}

TEST(TuneSearch, OfAGroupOnlyTheNodesThatAreNeeded) {
  const auto error = [](const PinSet& pins) { return pins.contains(5) ? 0.01 : 1.0; };
  SyntheticOracle oracle({4, 4, 4}, error, msOfPins);
  const TuneResult result = searched(oracle, {.maxError = 0.1});
  EXPECT_EQ(result.chosen.pins, PinSet{5});
  EXPECT_EQ(baseline(result, "greedy").found->pins.size(), 4U) << "a whole kernel";
}

TEST(TuneSearch, PinsWithoutEffectGoWithoutAnEvaluation) {
  const auto error = [](const PinSet& pins) { return pins.contains(5) ? 0.01 : 1.0; };
  SyntheticOracle oracle({4, 4, 4}, error, msOfPins);
  oracle.withoutEffect = {0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11};
  const TuneResult result = searched(oracle, {.maxError = 0.1});
  EXPECT_EQ(result.chosen.pins, PinSet{5});
  EXPECT_EQ(oracle.asked, 2) << "there are two plans";
  EXPECT_EQ(result.evaluations, 2);
}

TEST(TuneSearch, PinsThatHelpOnlyTogetherAreFound) {
  const auto error = [](const PinSet& pins) { return pins.contains(4) && pins.contains(5) ? 0.01 : 1.0; };
  SyntheticOracle oracle(std::vector<std::uint32_t>(12, 1), error, msOfPins);
  const TuneResult result = searched(oracle, {.maxError = 0.1});
  EXPECT_EQ(result.chosen.pins, (PinSet{4, 5}));
}

TEST(TuneSearch, WhereAPinMakesItWorseItIsNotTaken) {
  // Errors of 2 and 3 cancel; pinning one of them alone is worse than none.
  const auto error = [](const PinSet& pins) {
    double sum = 0;
    const std::vector<double> ofNodes{0.1, 0.1, 5, -5, 0.1, 3, 0.1, 0.1};
    for (std::uint32_t i = 0; i < ofNodes.size(); ++i) sum += pins.contains(i) ? 0 : ofNodes[i];
    return std::fabs(sum);
  };
  SyntheticOracle oracle(std::vector<std::uint32_t>(8, 1), error, msOfPins);
  const TuneResult result = searched(oracle, {.maxError = 0.7});
  EXPECT_TRUE(result.ok);
  EXPECT_TRUE(result.minimal);
  EXPECT_EQ(result.chosen.pins, PinSet{5});
  expectMinimal(oracle, result, 0.7);
}

TEST(TuneSearch, IsNeverLargerNorDearerThanWhatKnownSearchesFind) {
  std::uint64_t seed = 1;
  for (int network = 0; network < 40; ++network) {
    std::vector<double> ofNodes, ms;
    for (int i = 0; i < 30; ++i) {
      seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
      ofNodes.push_back(std::pow(10, static_cast<double>(seed >> 40U & 1023U) / 341 - 2));
      ms.push_back(static_cast<double>(seed >> 52U) / 4096);
    }
    const auto cost = [&](const PinSet& pins) {
      double sum = 5;
      for (const std::uint32_t pin : pins) sum += ms[pin] - (pins.contains(pin + 1) ? 0.3 : 0);
      return sum;
    };
    SyntheticOracle oracle({2, 3, 1, 4, 5, 2, 3, 1, 4, 5}, rootOfSquares(ofNodes), cost);
    for (const double share : {0.5, 0.25}) {
      const double bound = share * oracle.error({}).value();
      const TuneResult result = searched(oracle, {.maxError = bound});
      ASSERT_TRUE(result.ok);
      EXPECT_TRUE(result.minimal);
      if (!result.noSlowerThan) expectMinimal(oracle, result, bound);
      for (const TuneBaseline& other : result.baselines) {
        ASSERT_TRUE(other.found.has_value()) << other.name;
        EXPECT_LE(result.chosen.pins.size(), other.found->pins.size()) << other.name;
      }
      const auto best = std::ranges::min_element(result.baselines, {}, [](const TuneBaseline& other) {
        return std::pair(other.found->pins.size(), other.found->cost.ms);
      });
      EXPECT_LE(result.chosen.cost.ms, best->found->cost.ms) << network;
    }
  }
}

TEST(TuneSearch, WhatFailsOnTheReferenceIsNotFoundAndTheSearchGoesOn) {
  // Each node that is not pinned adds to the error, on the reference half as much again.
  std::vector<double> ofNodes;
  for (int i = 0; i < 12; ++i) ofNodes.push_back(1 + 0.21 * ((i * 5) % 7));
  const auto error = rootOfSquares(ofNodes);
  for (const double maxError : {1.0, 2.0, 3.5, 5.0}) {
    SyntheticOracle oracle(std::vector<std::uint32_t>(12, 1), error, msOfPins);
    oracle.reference = [&](const PinSet& pins) { return 1.5 * error(pins); };
    const TuneResult result = searched(oracle, {.maxError = maxError});
    ASSERT_TRUE(result.ok);
    EXPECT_LE(1.5 * error(result.chosen.pins), maxError);
    EXPECT_EQ(result.chosen.onReference, 1.5 * error(result.chosen.pins));
    EXPECT_EQ(result.chosen.measured, error(result.chosen.pins));
    EXPECT_EQ(result.chosen.error, 1.5 * error(result.chosen.pins)) << "the larger one is the error";
    EXPECT_TRUE(result.minimal);
    for (const std::uint32_t pin : result.chosen.pins) {
      PinSet left = result.chosen.pins;
      left.erase(pin);
      EXPECT_GT(1.5 * error(left), maxError) << "pin " << pin << " is not needed";
    }
    EXPECT_LT(oracle.askedReference, oracle.asked) << "only what would be chosen is held against it";
    SyntheticOracle alone(std::vector<std::uint32_t>(12, 1), error, msOfPins);
    EXPECT_LE(searched(alone, {.maxError = maxError}).chosen.pins.size(), result.chosen.pins.size());
  }
}

TEST(TuneSearch, WhereALimitEndsItOnlyWhatHoldsOnTheReferenceIsChosen) {
  const auto error = rootOfSquares(std::vector<double>(10, 1));
  for (std::int64_t evaluations = 1; evaluations < 40; evaluations += 3) {
    SyntheticOracle oracle(std::vector<std::uint32_t>(10, 1), error, msOfPins);
    oracle.reference = [&](const PinSet& pins) { return 1.3 * error(pins); };
    const TuneResult result = searched(oracle, {.maxError = 2, .evaluations = evaluations, .baselines = true});
    ASSERT_TRUE(result.ok);
    EXPECT_LE(1.3 * error(result.chosen.pins), 2) << evaluations;
  }
}

TEST(TuneSearch, NothingIsChosenThatEverythingPinnedIsFasterThan) {
  // Lowering pays as a whole; what is pinned between lowered nodes takes two conversions, which what the known searches
  // find does too.
  const auto error = [](const PinSet& pins) {
    return pins.size() == 6 ? 0.0 : pins.contains(1) && pins.contains(4) ? 0.01 : 1.0;
  };
  const auto ms = [](const PinSet& pins) {
    double sum = 10 + 0.1 * static_cast<double>(pins.size());
    for (const std::uint32_t pin : pins)
      sum += (pin == 5 || pins.contains(pin + 1) ? 0 : 2) + (pin == 0 || pins.contains(pin - 1) ? 0 : 2);
    return sum;
  };
  SyntheticOracle oracle(std::vector<std::uint32_t>(6, 1), error, ms);
  const TuneResult result = searched(oracle, {.maxError = 0.1});
  EXPECT_GT(baseline(result, "prefix").found->cost.ms, result.allPinned.cost.ms);
  EXPECT_LE(result.chosen.cost.ms, result.allPinned.cost.ms);
  ASSERT_TRUE(result.beatenByAllPinned.has_value());
  EXPECT_EQ(result.beatenByAllPinned->pins, (PinSet{1, 4})) << "the fewest that are good enough";
}

TEST(TuneSearch, WhereNoLoweringPaysEverythingIsPinned) {
  const auto error = [](const PinSet& pins) {
    return pins.size() == 12 ? 0 : pins.contains(3) && pins.contains(9) ? 0.01 : 1.0;
  };
  const auto faster = [](const PinSet& pins) { return 20 - static_cast<double>(pins.size()); };
  SyntheticOracle oracle(std::vector<std::uint32_t>(12, 1), error, faster);
  const TuneResult result = searched(oracle, {.maxError = 0.1});
  EXPECT_EQ(result.chosen.pins, result.allPinned.pins);
  ASSERT_TRUE(result.beatenByAllPinned.has_value());
  EXPECT_EQ(result.beatenByAllPinned->pins, (PinSet{3, 9}));
  EXPECT_TRUE(result.minimal) << "each pin is needed for the time";
}

TEST(TuneSearch, WhereNoPinIsNeededAndNoLoweringPaysEverythingIsPinned) {
  const auto error = [](const PinSet& pins) { return pins.size() == 6 ? 0 : 0.01; };
  const auto faster = [](const PinSet& pins) { return 20 - static_cast<double>(pins.size()); };
  SyntheticOracle oracle(std::vector<std::uint32_t>(6, 1), error, faster);
  const TuneResult result = searched(oracle, {.maxError = 0.1});
  EXPECT_EQ(result.chosen.pins.size(), 6U);
  ASSERT_TRUE(result.beatenByAllPinned.has_value());
  EXPECT_TRUE(result.beatenByAllPinned->pins.empty());
}

TEST(TuneSearch, WhereTheLoweringOfSomeNodesPaysTheyStayLowered) {
  // Lowered, the first six take a millisecond more each, and the last six half a millisecond less.
  const auto error = [](const PinSet& pins) {
    return pins.size() == 12 ? 0 : pins.contains(3) && pins.contains(9) ? 0.01 : 1.0;
  };
  const auto ms = [](const PinSet& pins) {
    double sum = 20;
    for (const std::uint32_t pin : pins) sum += pin < 6 ? -1 : 0.5;
    return sum;
  };
  SyntheticOracle oracle(std::vector<std::uint32_t>(12, 1), error, ms);
  const TuneResult result = searched(oracle, {.maxError = 0.1});
  EXPECT_LE(result.chosen.cost.ms, result.allPinned.cost.ms);
  EXPECT_LT(result.chosen.pins.size(), result.allPinned.pins.size());
  EXPECT_TRUE(result.chosen.pins.contains(3) && result.chosen.pins.contains(9));
}

TEST(TuneSearch, EverythingPinnedNeverBeatsWhatIsChosen) {
  RandomNumbers random(7);
  int beaten = 0, networks = 0;
  for (int network = 0; network < 60; ++network) {
    std::vector<double> ofNodes, ms;
    for (int i = 0; i < 16; ++i) {
      ofNodes.push_back(std::exp(random.normal()));
      ms.push_back(random.normal() + 0.3);  // what pinning it costs: where it is negative, lowering does not pay
    }
    const auto cost = [&](const PinSet& pins) {
      double sum = 50;
      for (const std::uint32_t pin : pins) sum += ms[pin] + (pins.contains(pin + 1) ? 0 : 0.4);
      return sum;
    };
    SyntheticOracle oracle({2, 3, 1, 4, 1, 5}, rootOfSquares(ofNodes), cost);
    const double unpinned = oracle.error({}).value();
    for (const double bound : {1.1 * unpinned, 0.6 * unpinned, 0.2 * unpinned, -1.0}) {
      for (const std::int64_t evaluations : {0, 9}) {
        const TuneResult result = searched(oracle, {.maxError = bound, .evaluations = evaluations});
        ++networks;
        const bool faster = result.allPinned.cost.ms < result.chosen.cost.ms;
        EXPECT_FALSE(faster && result.allPinned.error <= result.chosen.error) << network << ", " << bound;
        EXPECT_EQ(result.ok, bound > 0);
        if (!result.beatenByAllPinned) continue;
        ++beaten;
        EXPECT_LE(result.beatenByAllPinned->error, bound);
        EXPECT_LT(result.beatenByAllPinned->pins.size(), result.chosen.pins.size());
        EXPECT_GT(result.beatenByAllPinned->cost.ms, result.chosen.cost.ms);
      }
    }
  }
  EXPECT_EQ(networks, 480);
  EXPECT_GT(beaten, 50) << "else the networks test nothing";
}

TEST(TuneSearch, WhatFewPinsMakeSlowerByConversionsIsFilledUp) {
  // A pin for itself costs two conversions; between 3 and 5 there is one node.
  const auto error = [](const PinSet& pins) { return pins.contains(3) && pins.contains(5) ? 0.01 : 1.0; };
  const auto ms = [](const PinSet& pins) {
    double sum = 10;
    for (const std::uint32_t pin : pins) sum += (pins.contains(pin + 1) ? 0 : 2) + 0.5;
    return sum;
  };
  SyntheticOracle oracle(std::vector<std::uint32_t>(6, 1), error, ms);
  const TuneResult result = searched(oracle, {.maxError = 0.1});
  EXPECT_EQ(baseline(result, "suffix").found->pins, (PinSet{3, 4, 5}));
  EXPECT_EQ(result.chosen.pins, (PinSet{3, 4, 5})) << "two pins take a millisecond more than three";
  ASSERT_TRUE(result.noSlowerThan.has_value());
  EXPECT_TRUE(result.minimal);
  const auto middle = std::ranges::find(result.without, 4U, &TuneResult::Without::pin);
  ASSERT_NE(middle, result.without.end());
  EXPECT_TRUE(middle->slower);
}

TEST(TuneSearch, NothingIsPinnedWhereNothingIsWrong) {
  SyntheticOracle oracle(
      {2, 2}, [](const PinSet&) { return 0.01; }, msOfPins);
  const TuneResult result = searched(oracle, {.maxError = 0.02});
  EXPECT_TRUE(result.ok && result.minimal);
  EXPECT_TRUE(result.chosen.pins.empty());
}

TEST(TuneSearch, SaysSoWhereNoPinsAreEnough) {
  SyntheticOracle oracle(
      {2, 2}, [](const PinSet& pins) { return 1.0 - 0.1 * static_cast<double>(pins.size()); }, msOfPins);
  const TuneResult result = searched(oracle, {.maxError = 0.1});
  EXPECT_FALSE(result.ok);
  EXPECT_FALSE(result.minimal);
  EXPECT_EQ(result.chosen.pins.size(), 4U) << "the least error there is";
  for (const TuneBaseline& other : result.baselines) EXPECT_FALSE(other.found.has_value()) << other.name;
}

TEST(TuneSearch, ASpeedUpAloneIsSpentOnTheMostHarmful) {
  const std::vector<double> ofNodes{0.1, 4, 0.1, 3, 0.1, 2, 0.1, 1};
  SyntheticOracle oracle(std::vector<std::uint32_t>(8, 1), rootOfSquares(ofNodes), msOfPins);
  const double all = msOfPins({0, 1, 2, 3, 4, 5, 6, 7});
  const TuneResult result = searched(oracle, {.minSpeedup = all / 12.5});  // room for two pins
  EXPECT_TRUE(result.ok);
  EXPECT_EQ(result.chosen.pins, (PinSet{1, 3}));
  EXPECT_LE(result.chosen.cost.ms, 12.5);
}

TEST(TuneSearch, BothBoundsHold) {
  const std::vector<double> ofNodes{1, 1, 1, 1};
  SyntheticOracle oracle(std::vector<std::uint32_t>(4, 1), rootOfSquares(ofNodes), msOfPins);
  const double all = msOfPins({0, 1, 2, 3});
  EXPECT_FALSE(searched(oracle, {.maxError = 1.1, .minSpeedup = all / 11.5}).ok) << "three pins are needed";
  EXPECT_TRUE(searched(oracle, {.maxError = 1.1, .minSpeedup = all / 13.5}).ok);
}

TEST(TuneSearch, EndsAtItsLimitWithTheBestSoFar) {
  SyntheticOracle oracle(std::vector<std::uint32_t>(30, 1), rootOfSquares(std::vector<double>(30, 1)), msOfPins);
  std::size_t before = 31;
  for (const std::int64_t evaluations : {1, 40, 60, 200}) {
    const TuneResult result = searched(oracle, {.maxError = 2.5, .evaluations = evaluations});
    EXPECT_LE(result.evaluations, evaluations);
    EXPECT_TRUE(result.ok) << "all pinned is the first that is tried";
    EXPECT_LE(result.chosen.pins.size(), before) << "more evaluations are never worse";
    before = result.chosen.pins.size();
    EXPECT_EQ(result.end, result.evaluations == evaluations ? TuneEnd::Evaluations : TuneEnd::Finished);
  }
  EXPECT_EQ(before, 24U);
  oracle.stopAfter = oracle.asked + 45;
  const TuneResult stopped = searched(oracle, {.maxError = 2.5});
  EXPECT_EQ(stopped.end, TuneEnd::Stopped);
  EXPECT_TRUE(stopped.ok);
  EXPECT_EQ(searched(oracle, {.maxError = 2.5, .seconds = 1e-9}).end, TuneEnd::Seconds);
}

TEST(TuneSearch, KnownSearchesGoOnInLimitsOfTheirOwn) {
  SyntheticOracle oracle(std::vector<std::uint32_t>(30, 1), rootOfSquares(std::vector<double>(30, 1)), msOfPins);
  TuneGoal goal{.maxError = 2.5, .evaluations = 20};
  EXPECT_TRUE(searched(oracle, goal).baselines.empty()) << "nobody asks for them";
  goal.baselines = true;
  const TuneResult few = searched(oracle, goal);
  EXPECT_EQ(few.end, TuneEnd::Evaluations);
  EXPECT_EQ(few.evaluations, 20) << "of the search; those of the others are told with them";
  ASSERT_EQ(few.baselines.size(), 3U);
  for (const char* name : {"prefix", "suffix"}) {
    EXPECT_EQ(baseline(few, name).end, TuneEnd::Finished);
    EXPECT_EQ(baseline(few, name).found->pins.size(), 24U);
  }
  EXPECT_EQ(baseline(few, "greedy").end, TuneEnd::Evaluations) << "it needs more than there are";
  EXPECT_FALSE(baseline(few, "greedy").found.has_value());
  EXPECT_GT(baseline(few, "greedy").evaluations, 0);
  EXPECT_LE(few.chosen.pins.size(), 24U) << "what known searches find is known to this one";
  goal.evaluations = 60;
  const TuneResult more = searched(oracle, goal);
  EXPECT_EQ(more.end, TuneEnd::Evaluations);
  for (const TuneBaseline& other : more.baselines) {
    EXPECT_EQ(other.end, TuneEnd::Finished) << other.name;
    EXPECT_EQ(other.found->pins.size(), 24U) << other.name;
  }
  oracle.stopAfter = oracle.asked + 5;
  for (const TuneBaseline& other : searched(oracle, goal).baselines) EXPECT_EQ(other.end, TuneEnd::Stopped);
}

TEST(TuneSearch, WhereALimitEndsItNothingSlowerThanAKnownSearchIsChosen) {
  // As where few pins are filled up below, but that nothing is left to make them smaller.
  const auto error = [](const PinSet& pins) { return pins.contains(3) && pins.contains(5) ? 0.01 : 1.0; };
  const auto ms = [](const PinSet& pins) {
    double sum = 10;
    for (const std::uint32_t pin : pins) sum += (pins.contains(pin + 1) ? 0 : 2) + 0.5;
    return sum;
  };
  for (std::int64_t evaluations = 9; evaluations < 20; ++evaluations) {
    SyntheticOracle oracle(std::vector<std::uint32_t>(6, 1), error, ms);
    const TuneResult result = searched(oracle, {.maxError = 0.1, .evaluations = evaluations, .baselines = true});
    EXPECT_LE(result.chosen.cost.ms, baseline(result, "suffix").found->cost.ms) << evaluations;
  }
}

TEST(TuneSearch, IsTheSameForTheSameSeedAndGoesOnFromWhatItRemembers) {
  std::vector<double> ofNodes;
  for (int i = 0; i < 25; ++i) ofNodes.push_back(1 + 0.37 * ((i * 7) % 11));
  SyntheticOracle oracle({5, 5, 5, 5, 5}, rootOfSquares(ofNodes), msOfPins);
  const TuneGoal goal{.maxError = 4, .seed = 5};
  TuneMemory memory;
  const TuneResult first = tuneSearch(oracle, goal, memory).value();
  const std::int64_t asked = oracle.asked;
  EXPECT_EQ(asked, first.evaluations);
  const TuneResult again = tuneSearch(oracle, goal, memory).value();
  EXPECT_EQ(oracle.asked, asked) << "everything is remembered";
  EXPECT_EQ(again.evaluations, first.evaluations) << "what is remembered counts as if it were made";
  EXPECT_EQ(again.chosen.pins, first.chosen.pins);
  TuneMemory half;
  for (const auto& entry : memory.errors)
    if (half.errors.size() < memory.errors.size() / 2) half.errors.insert(entry);
  const TuneResult resumed = tuneSearch(oracle, goal, half).value();
  EXPECT_EQ(resumed.chosen.pins, first.chosen.pins);
  EXPECT_EQ(resumed.front.size(), first.front.size());
}

TEST(TuneSearch, TheFrontHoldsWhatNothingElseIsBetterThan) {
  SyntheticOracle oracle(std::vector<std::uint32_t>(10, 1), rootOfSquares(std::vector<double>(10, 1)), msOfPins);
  const TuneResult result = searched(oracle, {.maxError = 2});
  ASSERT_GT(result.front.size(), 2U);
  for (std::size_t i = 1; i < result.front.size(); ++i) {
    const TunePoint &less = result.front[i - 1], &more = result.front[i];
    EXPECT_LE(less.error, more.error);
    EXPECT_TRUE(more.pins.size() < less.pins.size() || more.cost.ms < less.cost.ms);
  }
}

}  // namespace
}  // namespace fusescope::test
