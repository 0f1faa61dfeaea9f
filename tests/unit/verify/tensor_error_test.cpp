#include "verify/tensor_error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/unit/verify/floats.h"

namespace fusescope {
namespace {

using testing::floats;

TensorError errorOf(const Tensor& actual, const Tensor& expected, DataType stored) {
  TensorErrorSums sums;
  sums.add(actual, expected, stored);
  return sums.error();
}

TEST(TensorError, MeasuresDifferences) {
  const TensorError error = errorOf(floats({3, 4.5F}), floats({3, 4}), DataType::F32);
  EXPECT_EQ(error.elements, 2);
  EXPECT_DOUBLE_EQ(error.maxAbs, 0.5);
  EXPECT_DOUBLE_EQ(error.maxOverRms, 0.5 / std::sqrt(12.5));
  EXPECT_DOUBLE_EQ(error.relL2, 0.5 / 5);
  EXPECT_NEAR(error.cosine, (9 + 18) / (5 * std::sqrt(9 + 20.25)), 1e-12);
  EXPECT_DOUBLE_EQ(error.ulp, 0.5 / std::ldexp(1.0, 2 - 23));
  EXPECT_EQ(error.nonFinite + error.saturated + error.underflowed, 0);
}

TEST(TensorError, EqualTensorsHaveNone) {
  const TensorError error = errorOf(floats({0, INFINITY, NAN}), floats({0, INFINITY, NAN}), DataType::F32);
  EXPECT_EQ(error.maxAbs + error.relL2 + error.ulp + error.nonFinite, 0);
  EXPECT_EQ(error.cosine, 1);
}

TEST(TensorError, CountsWhatTheStoredTypeCannotHold) {
  const Tensor exact = floats({70000, 65504, 1e-9F, 0, 1, 65519});
  const TensorError error = errorOf(exact.converted(DataType::F16), exact, DataType::F16);
  EXPECT_DOUBLE_EQ(error.nonFinite, 1.0 / 6) << "70000";
  EXPECT_DOUBLE_EQ(error.saturated, 1.0 / 6) << "65519, not what is 65504 itself";
  EXPECT_DOUBLE_EQ(error.underflowed, 1.0 / 6) << "1e-9, not what is 0 itself";
  EXPECT_TRUE(std::isnan(error.cosine));
}

TEST(TensorError, WhatIsInfiniteMustBeTheSameInfinity) {
  const Tensor exact = floats({INFINITY, INFINITY, NAN, 1});
  const auto nonFinite = [&](std::vector<float> actual) {
    return errorOf(floats(std::move(actual)), exact, DataType::F32).nonFinite;
  };
  EXPECT_EQ(nonFinite({INFINITY, INFINITY, NAN, 1}), 0);
  EXPECT_EQ(nonFinite({NAN, INFINITY, NAN, 1}), 0.25);
  EXPECT_EQ(nonFinite({-INFINITY, INFINITY, NAN, 1}), 0.25);
  EXPECT_EQ(nonFinite({3e38F, INFINITY, INFINITY, 1}), 0.5);
  EXPECT_EQ(errorOf(exact, exact, DataType::F32).expectedNonFinite, 0.75);
  EXPECT_TRUE(std::isnan(errorOf(floats({NAN}), floats({NAN}), DataType::F32).cosine)) << "nothing was compared";
}

TEST(TensorError, WhatBecameZeroHasNoPartInTheSameDirection) {
  EXPECT_EQ(errorOf(floats({0, 0}), floats({1, 2}), DataType::F32).cosine, 0);
}

TEST(TensorError, WhereNothingIsFiniteTheErrorIsInfinite) {
  const TensorError error = errorOf(floats({NAN}), floats({1}), DataType::F32);
  EXPECT_TRUE(std::isinf(error.maxOverRms) && std::isinf(error.relL2));
  EXPECT_EQ(error.nonFinite, 1);
}

TEST(TensorError, CodesAreCountedInSteps) {
  const Tensor codes = Tensor::ofInt64({-128, 5}).converted(DataType::I8);
  const TensorError error = errorOf(codes, Tensor::ofInt64({-120, 7}).converted(DataType::I8), DataType::I8);
  EXPECT_EQ(error.ulp, 8);
  EXPECT_EQ(error.saturated, 0.5);
}

/// Codes of u8 with a step of 0.1: exact numbers and those that stand there, and what is told of them.
TensorError errorOfCodes(std::vector<float> exact, std::vector<std::int64_t> codes) {
  const CodeMeaning meaning{
      .type = DataType::U8, .scale = floats({0.1F}), .zero = Tensor::ofInt64({0}).converted(DataType::U8)};
  TensorErrorSums sums;
  const auto added = sums.addCodes(Tensor::ofInt64(codes).converted(DataType::U8), floats(std::move(exact)), meaning);
  EXPECT_TRUE(added.ok());
  return sums.error();
}

TEST(TensorError, CodesAreJudgedByTheWholeTensorAndFloatsByTheWorstElement) {
  std::vector<float> exact(1000, 20);
  std::vector<std::int64_t> codes(1000, 200);
  exact.front() = 27;
  codes.front() = 255;
  const TensorError few = errorOfCodes(exact, codes);
  EXPECT_TRUE(few.codes);
  EXPECT_DOUBLE_EQ(few.saturated, 0.001);
  EXPECT_GT(few.maxOverRms, 0.07);
  EXPECT_NEAR(fractionOfBound(few, 0.01), few.relL2 / 0.01, 1e-9);
  EXPECT_LE(fractionOfBound(few, 0.01), 1);
  std::fill_n(exact.begin(), 100, 27.F);
  std::fill_n(codes.begin(), 100, 255);
  EXPECT_GT(fractionOfBound(errorOfCodes(exact, codes), 0.01), 1) << "a tenth of it";
  std::vector<float> off = exact;
  off.front() += 1.5F;
  const TensorError one = errorOf(floats(off), floats(exact), DataType::F16);
  EXPECT_NEAR(fractionOfBound(one, 0.01), one.maxOverRms / 0.01, 1e-9);
  EXPECT_GT(fractionOfBound(one, 0.01), 1) << "one element of a float is enough";
  EXPECT_EQ(fractionOfBound(errorOf(floats(exact), floats(exact), DataType::F16), 0), 0);
}

TEST(TensorError, SamplesAddUp) {
  TensorErrorSums sums, other;
  sums.add(floats({1}), floats({2}), DataType::F32);
  other.add(floats({0}), floats({3}), DataType::F32);
  sums.add(other);
  EXPECT_EQ(sums.error().elements, 2);
  EXPECT_EQ(sums.error().maxAbs, 3);
  EXPECT_DOUBLE_EQ(sums.error().relL2, std::sqrt(10.0 / 13));
  EXPECT_EQ(sums.error().underflowed, 0.5);
}

TEST(TensorError, CodesBesideWhatWasNotMeasuredAreCodes) {
  const CodeMeaning meaning{
      .type = DataType::U8, .scale = floats({0.1F}), .zero = Tensor::ofInt64({0}).converted(DataType::U8)};
  TensorErrorSums codes, both;
  ASSERT_TRUE(codes.addCodes(Tensor::ofInt64({1}).converted(DataType::U8), floats({0.1F}), meaning).ok());
  both.add(codes);
  both.add(TensorErrorSums());
  EXPECT_TRUE(both.error().codes);
}

TEST(TensorError, OnlyNumbersOfEqualExtentsCompare) {
  EXPECT_TRUE(TensorErrorSums::comparable(floats({1}), floats({1}, DataType::F16)));
  EXPECT_FALSE(TensorErrorSums::comparable(floats({1}), floats({1, 2})));
  EXPECT_FALSE(TensorErrorSums::comparable(Tensor::ofStrings({1}, {"a"}), Tensor::ofStrings({1}, {"a"})));
}

}  // namespace
}  // namespace fusescope
