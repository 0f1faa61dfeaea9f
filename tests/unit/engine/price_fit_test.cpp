#include "engine/tactics/price_fit.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace fusescope {
namespace {

/// Made-up measurements at eight amounts of work and traffic that do not go together.
std::vector<WorkSample> samplesOf(const std::function<double(double work, double traffic)>& ms) {
  std::vector<WorkSample> samples;
  for (int i = 1; i <= 8; ++i) {
    const double work = 1e6 * i * i, traffic = 1e4 * ((5 * i) % 9 + 1);
    samples.push_back({work, traffic, {.ms = ms(work, traffic)}});
  }
  return samples;
}

TEST(PriceFit, RecoversWhatTheTimesWereMadeOf) {
  const auto fit =
      fitPrices(samplesOf([](double work, double traffic) { return 0.02 + 3e-8 * work + 2e-6 * traffic; }));
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->fixed, 0.02, 1e-8);
  EXPECT_NEAR(fit->perWork, 3e-8, 1e-14);
  EXPECT_NEAR(fit->perTraffic, 2e-6, 1e-12);
  EXPECT_LT(fit->error, 1e-6);
  EXPECT_EQ(fit->samples, 8U);
  EXPECT_NEAR(fit->at(2e7, 5e4).value(), 0.02 + 0.6 + 0.1, 1e-7);
}

TEST(PriceFit, TrafficAloneIsEnough) {
  std::vector<WorkSample> samples;
  for (int i = 1; i <= 6; ++i) samples.push_back({0, 1000.0 * i, {.ms = 0.001 + 1e-6 * 1000 * i}});
  const auto fit = fitPrices(samples);
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->at(0, 2500).value(), 0.0035, 1e-9);
}

TEST(PriceFit, NothingIsNegative) {
  // Less time for more traffic: the best line would fall.
  const auto fit = fitPrices(samplesOf([](double work, double traffic) { return 1 + 1e-7 * work - 2e-6 * traffic; }));
  ASSERT_TRUE(fit.has_value());
  EXPECT_EQ(fit->perTraffic, 0);
  EXPECT_GT(fit->perWork, 0);
  EXPECT_GE(fit->fixed, 0);
  EXPECT_GT(fit->error, 0);
}

TEST(PriceFit, TheErrorIsOfWhatWasLeftOut) {
  // Six equal times, one of which is 30 % more: leaving out an ordinary one leaves five of which one is off.
  std::vector<WorkSample> samples;
  for (int i = 0; i < 6; ++i) samples.push_back({0, 1.0 + 1e-9 * i, {.ms = i == 5 ? 1.3 : 1.0}});
  const auto fit = fitPrices(samples);
  ASSERT_TRUE(fit.has_value());
  EXPECT_GT(fit->error, 0.05);
  EXPECT_LT(fit->error, 0.3);
}

TEST(PriceFit, ALineThatDoesNotPredictIsRefused) {
  double sign = 1;
  const auto wild = samplesOf([&](double, double) {
    sign = -sign;
    return sign > 0 ? 10.0 : 0.01;  // has nothing to do with the amounts
  });
  EXPECT_EQ(fitPrices(wild), std::nullopt);
}

TEST(PriceFit, AHandfulOfDifferentAmountsIsNeeded) {
  auto samples = samplesOf([](double work, double traffic) { return 0.1 + 1e-8 * work + 1e-6 * traffic; });
  samples.resize(5);
  EXPECT_EQ(fitPrices(samples), std::nullopt);
  samples.push_back(samples.front());
  EXPECT_EQ(fitPrices(samples), std::nullopt) << "the same amounts twice say no more";
}

TEST(PriceFit, TimesWithoutConfidenceDoNotCount) {
  auto samples = samplesOf([](double work, double) { return 0.1 + 1e-8 * work; });
  samples.push_back({4e6, 2e4, {.ms = 100, .spread = 2 * kConfidentSpread}});
  const auto fit = fitPrices(samples);
  ASSERT_TRUE(fit.has_value());
  EXPECT_EQ(fit->samples, 8U);
  EXPECT_LT(fit->error, 1e-6);
}

TEST(PriceFit, SaysNothingFarFromWhatWasMeasured) {
  const auto fit =
      fitPrices(samplesOf([](double work, double traffic) { return 0.02 + 3e-8 * work + 2e-6 * traffic; }));
  ASSERT_TRUE(fit.has_value());
  EXPECT_TRUE(fit->at(2 * 6.4e7, 5e4).has_value());
  EXPECT_EQ(fit->at(100 * 6.4e7, 5e4), std::nullopt);
  EXPECT_EQ(fit->at(6.4e7, 1), std::nullopt);
}

}  // namespace
}  // namespace fusescope
