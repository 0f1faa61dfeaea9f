// Which of many switches make something wrong: by halves, each set once.
#include "tuning/culprits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace fusescope::test {
namespace {

/// Wrong unless one set of `cures` is off as a whole.
struct Wrongness {
  std::vector<SwitchSet> cures;
  std::vector<SwitchSet> tried{};

  ErrorWithout error() {
    return [this](const SwitchSet& off) -> Result<double> {
      tried.push_back(off);
      const auto isOff = [&](const SwitchSet& cure) { return std::ranges::includes(off, cure); };
      return std::ranges::any_of(cures, isOff) ? 0.001 : INFINITY;
    };
  }
  Culprits found(std::uint32_t switches, const CulpritOptions& options = {}) {
    auto found = findCulprits(switches, error(), options);
    EXPECT_TRUE(found.ok());
    return std::move(found).value();
  }
};

TEST(Culprits, OneOfManyIsFoundByHalves) {
  for (const std::uint32_t culprit : {0U, 17U, 63U}) {
    Wrongness wrong{{{culprit}}};
    const Culprits found = wrong.found(64);
    EXPECT_EQ(found.end, CulpritEnd::Found);
    EXPECT_EQ(found.off, SwitchSet{culprit});
    EXPECT_TRUE(found.minimal);
    EXPECT_TRUE(std::isinf(found.before));
    EXPECT_EQ(found.after, 0.001);
    EXPECT_LE(found.builds, 20);
    EXPECT_EQ(static_cast<std::size_t>(found.builds), wrong.tried.size());
    EXPECT_EQ(std::set(wrong.tried.begin(), wrong.tried.end()).size(), wrong.tried.size()) << "each set once";
  }
}

TEST(Culprits, AllThatAreNeededTogetherAreFound) {
  Wrongness wrong{{{3, 30, 31}}};
  const Culprits found = wrong.found(40);
  EXPECT_EQ(found.off, (SwitchSet{3, 30, 31}));
  EXPECT_TRUE(found.minimal);
  EXPECT_LE(found.builds, 45);
}

TEST(Culprits, OneOfTwoCuresIsEnough) {
  Wrongness wrong{{{2}, {9}}};
  const Culprits found = wrong.found(16);
  EXPECT_EQ(found.end, CulpritEnd::Found);
  EXPECT_EQ(found.off.size(), 1U);
  EXPECT_EQ(wrong.found(16).off, found.off) << "the same each time";
}

TEST(Culprits, NothingThatCanBeSwitchedOffIsSaid) {
  Wrongness wrong{{}};
  const Culprits found = wrong.found(8);
  EXPECT_EQ(found.end, CulpritEnd::NoCulprit);
  EXPECT_TRUE(found.off.empty());
  EXPECT_EQ(found.builds, 2);
  EXPECT_TRUE(std::isinf(found.after));
  Wrongness alone{{}};
  EXPECT_EQ(alone.found(0).end, CulpritEnd::NoCulprit);
}

TEST(Culprits, WhatIsRightIsLeftAlone) {
  Wrongness right{{{}}};
  const Culprits found = right.found(8);
  EXPECT_EQ(found.end, CulpritEnd::NotWrong);
  EXPECT_EQ(found.builds, 1);
  EXPECT_EQ(found.before, 0.001);
}

TEST(Culprits, ABudgetEndsWithWhatIsKnown) {
  Wrongness wrong{{{5}}};
  const Culprits found = wrong.found(32, {.builds = 4});
  EXPECT_EQ(found.end, CulpritEnd::OutOfBudget);
  EXPECT_EQ(found.builds, 4);
  EXPECT_FALSE(found.minimal);
  EXPECT_TRUE(std::ranges::includes(found.off, SwitchSet{5})) << "what is known to do";
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(wrong.found(32, {.stop = stop.get_token()}).end, CulpritEnd::OutOfBudget);
}

/// Off together they are wrong again: what is found must do all the same.
TEST(Culprits, WhatIsNotMonotoneEndsWithASetThatDoes) {
  const auto error = [](const SwitchSet& off) -> Result<double> {
    const bool a = std::ranges::count(off, 1U) > 0, b = std::ranges::count(off, 6U) > 0;
    return a != b || off.size() == 8 ? 0.0 : 1.0;
  };
  const auto found = findCulprits(8, error, {});
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found.value().end, CulpritEnd::Found);
  EXPECT_EQ(error(found.value().off).value(), 0.0);
}

TEST(Culprits, AnErrorThatCannotBeToldEndsIt) {
  const auto error = [](const SwitchSet&) -> Result<double> { return Diagnostic{.message = "does not compile"}; };
  const auto found = findCulprits(8, error, {});
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().message, "does not compile");
}

}  // namespace
}  // namespace fusescope::test
