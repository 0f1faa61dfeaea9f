// What a machine reaches at the most, and what that says of a kernel.
#include "engine/tactics/machine_peaks.h"

#include "engine/tactics/roofline.h"
#include "tests/unit/engine/engine_fixture.h"

namespace fusescope::testing {
namespace {

TEST(MachinePeaks, TheLeastTimeIsThatOfWhatTakesLonger) {
  const MachinePeaks peaks{
      .threads = 1,
      .types = {{.type = DataType::F32, .operationsPerSecond = 1e9, .bytesPerSecond = 1e8, .cachedPerSecond = 1e9}}};
  EXPECT_DOUBLE_EQ(peaks.leastMs(DataType::F32, 5'000'000, 1000).value(), 5) << "its operations";
  EXPECT_DOUBLE_EQ(peaks.leastMs(DataType::F32, 1000, 7'000'000).value(), 7) << "its bytes, in caches";
  EXPECT_DOUBLE_EQ(peaks.leastMs(DataType::F32, 1000, 20'000'000).value(), 200) << "its bytes, in memory";
  EXPECT_FALSE(peaks.leastMs(DataType::BF16, 1000, 1000)) << "not measured";
  EXPECT_FALSE(peaks.leastMs(DataType::F32, std::nullopt, 1000)) << "not known";
}

TEST(MachinePeaks, WhatIsFasterThanTheyAllowIsMarked) {
  EXPECT_EQ(rooflineText(1, 2), "50 %");
  EXPECT_EQ(rooflineText(1.02, 1), "102 %") << "measurements scatter";
  EXPECT_EQ(rooflineText(2.55, 1), "> 100 % (!)");
  EXPECT_EQ(rooflineText({}, 1), "");
  EXPECT_EQ(rooflineText(1, 0), "");
  EXPECT_TRUE(isBeyondPeaks(2.55, 1));
  EXPECT_FALSE(isBeyondPeaks(1.02, 1) || isBeyondPeaks(1, {}) || isBeyondPeaks({}, 1));
}

TEST(MachinePeaks, AreMeasuredKeptAndFoundAgain) {
  const TemporaryFolder folder;
  const auto file = folder / "timings.sqlite";
  EXPECT_FALSE(knownPeaks(file, 1));
  const auto measured = measurePeaks({.threads = 1, .seconds = 0.01, .timingCache = file});
  ASSERT_TRUE(measured.ok()) << measured.error().text();
  const TypePeak* f32 = measured.value().find(DataType::F32);
  ASSERT_NE(f32, nullptr);
  EXPECT_GT(f32->operationsPerSecond.value(), 0);
  EXPECT_GT(f32->bytesPerSecond.value(), 0);
  const auto known = knownPeaks(file, 1);
  ASSERT_TRUE(known);
  EXPECT_EQ(known->find(DataType::F32)->operationsPerSecond, f32->operationsPerSecond);
  EXPECT_FALSE(knownPeaks(file, 2)) << "of another number of threads";
}

}  // namespace
}  // namespace fusescope::testing
