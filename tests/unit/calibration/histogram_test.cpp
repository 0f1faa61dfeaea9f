#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "base/json.h"
#include "calibration/histogram.h"
#include "calibration/range_method.h"

namespace fusescope {
namespace {

std::vector<float> normal(std::size_t count, float deviation, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> numbers(0, deviation);
  std::vector<float> list(count);
  std::ranges::generate(list, [&] { return numbers(random); });
  return list;
}

Histogram of(const std::vector<float>& numbers) {
  Histogram histogram;
  histogram.add(numbers);
  return histogram;
}

TEST(Histogram, IsTheSameInAnyOrderAndDivision) {
  std::vector<float> numbers = normal(5000, 3);
  numbers[17] = 900;  // the range grows in the middle
  const Histogram whole = of(numbers);
  std::vector<float> sorted = numbers;
  std::ranges::sort(sorted, {}, [](float x) { return std::abs(x); });
  Histogram pieces, merged;
  for (std::size_t i = 0; i < sorted.size(); i += 100) {
    pieces.add(std::span(sorted).subspan(i, 100));
    merged.add(
        of({sorted.begin() + static_cast<std::ptrdiff_t>(i), sorted.begin() + static_cast<std::ptrdiff_t>(i) + 100}));
  }
  EXPECT_EQ(pieces, whole);
  EXPECT_EQ(merged, whole);
  EXPECT_EQ(std::accumulate(whole.bins().begin(), whole.bins().end(), std::int64_t{0}), 5000);
  EXPECT_EQ(whole.most(), 900);
  EXPECT_GT(std::ssize(whole.bins()), Histogram::kMostBins / 4);
  EXPECT_LE(std::ssize(whole.bins()), Histogram::kMostBins);
}

TEST(Histogram, WiderBinsHoldTheSameNumbers) {
  const Histogram fine = of(normal(5000, 3)), coarse = fine.withAtMost(64);
  EXPECT_LE(std::ssize(coarse.bins()), 64);
  EXPECT_GT(std::ssize(coarse.bins()), 16) << "no wider than it takes";
  EXPECT_EQ(coarse.count(), fine.count());
  EXPECT_EQ(coarse.least(), fine.least());
  EXPECT_EQ(coarse.most(), fine.most());
  EXPECT_EQ(std::accumulate(coarse.bins().begin(), coarse.bins().end(), std::int64_t{0}), 5000);
  const auto read = Histogram::fromJson(coarse.toJson());
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read.value(), coarse);
  EXPECT_EQ(fine.withAtMost(Histogram::kMostBins), fine);
  EXPECT_EQ(of({0, 0}).withAtMost(4).count(), 2);
}

TEST(Histogram, ZerosBeforeAnyOtherNumberHaveTheirBin) {
  Histogram histogram;
  histogram.add(std::vector<float>{0, 0, 0});
  EXPECT_EQ(histogram.width(), 0);
  EXPECT_EQ(histogram.filled().size(), 1U);
  histogram.add(std::vector<float>{2, -1});
  EXPECT_EQ(histogram, of({2, 0, 0, -1, 0}));
  EXPECT_EQ(histogram.absoluteCounts().front(), 3);
}

TEST(Histogram, NaNAndInfinitiesAreCountedApart) {
  const float infinity = std::numeric_limits<float>::infinity();
  const Histogram histogram = of({1, std::nanf(""), infinity, -infinity, -2});
  EXPECT_EQ(histogram.count(), 2);
  EXPECT_EQ(histogram.notFinite(), 3);
  EXPECT_EQ(histogram.most(), 1);
}

TEST(Histogram, ComesBackFromJson) {
  for (const Histogram& histogram : {of(normal(300, 0.01F)), of({0, 0}), Histogram()}) {
    const auto back = Histogram::fromJson(Json::parse(histogram.toJson().dump()));
    ASSERT_TRUE(back.ok()) << back.error().text();
    EXPECT_EQ(back.value(), histogram);
  }
  Json wrong = of({1, 2}).toJson();
  wrong["counts"][0] = 5;
  EXPECT_FALSE(Histogram::fromJson(wrong).ok());
  Json odd = of({1, 2}).toJson();
  odd["width"] = 0.3;
  EXPECT_FALSE(Histogram::fromJson(odd).ok());
  EXPECT_FALSE(Histogram::fromJson(Json::object()).ok());
}

TEST(RangeMethod, MinMaxHoldsAllAndZero) {
  EXPECT_EQ(rangeOf(of({1, 3}), {}), (ValueRange{0, 3}));
  EXPECT_EQ(rangeOf(of({-4, 3}), {.symmetric = true}), (ValueRange{-4, 4}));
  EXPECT_EQ(rangeOf(of({0, 0}), {}), ValueRange());
}

TEST(RangeMethod, PercentileLeavesOutTheEnds) {
  std::vector<float> numbers(10000);
  std::iota(numbers.begin(), numbers.end(), 0.0F);  // 0 … 9999, evenly
  const ValueRange range = rangeOf(of(numbers), {.method = RangeMethod::Percentile, .percentile = 98});
  EXPECT_EQ(range.low, 0);  // 0 stays inside
  EXPECT_NEAR(range.high, 9900, 16);
  const ValueRange all = rangeOf(of(numbers), {.method = RangeMethod::Percentile, .percentile = 100});
  EXPECT_EQ(all.high, 9999);
  const ValueRange symmetric =
      rangeOf(of(normal(100000, 1)), {.method = RangeMethod::Percentile, .percentile = 95.45, .symmetric = true});
  EXPECT_NEAR(symmetric.high, 2, 0.03);  // two deviations
  EXPECT_EQ(symmetric.low, -symmetric.high);
}

TEST(RangeMethod, EntropyAndErrorClampOutliers) {
  std::vector<float> numbers = normal(100000, 1);
  numbers[3] = 60;
  for (const bool symmetric : {false, true}) {
    const ValueRange entropy = rangeOf(of(numbers), {.method = RangeMethod::Entropy, .symmetric = symmetric});
    EXPECT_LT(entropy.high, 10);
    EXPECT_GT(entropy.high, 2.5);
  }
  for (float& number : numbers) number = number > 10 ? 5 : number * number * number;
  const Histogram histogram = of(numbers);
  for (const bool symmetric : {false, true}) {
    const ValueRange mse = rangeOf(histogram, {.method = RangeMethod::Mse, .symmetric = symmetric});
    const ValueRange all = rangeOf(histogram, {.symmetric = symmetric});
    EXPECT_LT(quantizationError(histogram, mse, symmetric), 0.99 * quantizationError(histogram, all, symmetric));
    EXPECT_LE(mse.low, 0);
  }
}

// Half of all numbers at 0, as a ReLU leaves them, say nothing of where the others end.
TEST(RangeMethod, ZerosDoNotOutweighTheRest) {
  std::vector<float> numbers = normal(100000, 1);
  for (float& number : numbers) number = std::max(number, 0.0F);
  EXPECT_GT(rangeOf(of(numbers), {.method = RangeMethod::Entropy}).high, 2.0);
}

// The brute search over every bin finds nothing better than what the method finds.
TEST(RangeMethod, TheErrorIsNearTheLeastOfAll) {
  const Histogram histogram = of(normal(20000, 2, 7));
  const ValueRange found = rangeOf(histogram, {.method = RangeMethod::Mse, .symmetric = true});
  double least = INFINITY;
  for (double high = 0.5; high < 10; high += 0.01)
    least = std::min(least, quantizationError(histogram, {-high, high}, true));
  EXPECT_LT(quantizationError(histogram, found, true), 1.02 * least);
}

TEST(RangeMethod, NamesComeBack) {
  for (const RangeMethod method :
       {RangeMethod::MinMax, RangeMethod::Percentile, RangeMethod::Entropy, RangeMethod::Mse})
    EXPECT_EQ(rangeMethodFromName(name(method)), method);
  EXPECT_EQ(rangeMethodFromName("median"), std::nullopt);
}

TEST(Histogram, NumbersOfAllMagnitudesFit) {
  for (const float sign : {1.0F, -1.0F}) {
    Histogram histogram;
    for (const float number : {1e-38F, 1.0F, 3e38F, 1e30F}) histogram.add(std::array{sign * number});
    EXPECT_EQ(histogram.count(), 4);
    EXPECT_EQ(std::max(std::abs(histogram.least()), std::abs(histogram.most())), 3e38F);
    EXPECT_LE(std::ssize(histogram.bins()), Histogram::kMostBins);
  }
}

}  // namespace
}  // namespace fusescope
