// Statistics of tensors, what narrower types make of their numbers, slices of them, and differences.
#include "session/runs/tensor_statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "session/runs/tensor_slice.h"

namespace fusescope::test {
namespace {

Tensor floats(Dims dims, const std::vector<float>& values) {
  return Tensor::copyOf<float>(DataType::F32, std::move(dims), values);
}

TensorStatistics statistics(const Tensor& tensor, std::int64_t most = INT64_MAX) {
  const auto result = statisticsOf(tensor, most);
  EXPECT_TRUE(result.ok());
  return result.ok() ? result.value() : TensorStatistics();
}

TEST(NarrowFate, Float16IsExactAtItsBorders) {
  const auto fate = [](double number) { return fateIn(DataType::F16, number); };
  EXPECT_EQ(fate(65504), NarrowFate::Kept);
  EXPECT_EQ(fate(std::nextafterf(65520, 0)), NarrowFate::Kept) << "it is rounded down to 65504";
  EXPECT_EQ(fate(65520), NarrowFate::Overflows) << "a tie goes to the even neighbour, which is infinity";
  EXPECT_EQ(fate(-65520), NarrowFate::Overflows);
  EXPECT_EQ(fate(0x1p-14), NarrowFate::Kept) << "the least normal number";
  EXPECT_EQ(fate(0x1p-14 - 0x1p-26), NarrowFate::Kept) << "it is rounded up to a normal number";
  EXPECT_EQ(fate(0x1p-15), NarrowFate::Denormal);
  EXPECT_EQ(fate(0x1p-24), NarrowFate::Denormal) << "the least number";
  EXPECT_EQ(fate(std::nextafterf(0x1p-25F, 1)), NarrowFate::Denormal) << "it is rounded up to the least number";
  EXPECT_EQ(fate(0x1p-25), NarrowFate::Underflows) << "a tie goes to the even neighbour, which is zero";
  EXPECT_EQ(fate(0), NarrowFate::Kept);
  EXPECT_EQ(fate(INFINITY), NarrowFate::Kept) << "it was no finite number before";
}

TEST(NarrowFate, BFloat16IsExactAtItsBorders) {
  const auto fate = [](double number) { return fateIn(DataType::BF16, number); };
  const float most = 0x1.FEp127F, tie = 0x1.FFp127F;
  EXPECT_EQ(fate(most), NarrowFate::Kept);
  EXPECT_EQ(fate(std::nextafterf(tie, 0)), NarrowFate::Kept);
  EXPECT_EQ(fate(tie), NarrowFate::Overflows);
  EXPECT_EQ(fate(0x1p-126), NarrowFate::Kept);
  EXPECT_EQ(fate(0x1p-127), NarrowFate::Denormal);
  EXPECT_EQ(fate(0x1p-133), NarrowFate::Denormal);
  EXPECT_EQ(fate(0x1p-134), NarrowFate::Underflows);
  EXPECT_EQ(fate(65520), NarrowFate::Kept);
}

TEST(NarrowFate, DoublesAreHeldAgainstFloat32Too) {
  EXPECT_EQ(fateIn(DataType::F32, 1e39), NarrowFate::Overflows);
  EXPECT_EQ(fateIn(DataType::F32, 1e-40), NarrowFate::Denormal);
  EXPECT_EQ(fateIn(DataType::F32, 1e-60), NarrowFate::Underflows);
  EXPECT_EQ(fateIn(DataType::I8, 1e9), NarrowFate::Kept) << "it is no float type";
}

TEST(TensorStatistics, CountWhatIsThere) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor tensor = floats({2, 4}, {0, -3, 1, 70000, nan, INFINITY, 1e-6F, 1});
  const TensorStatistics of = statistics(tensor);
  EXPECT_EQ(of.count, 8);
  EXPECT_EQ(of.looked, 8);
  EXPECT_EQ(of.zeros, 1);
  EXPECT_EQ(of.nan, 1);
  EXPECT_EQ(of.infinite, 1);
  EXPECT_EQ(of.least, -3);
  EXPECT_EQ(of.leastAt, 1);
  EXPECT_EQ(of.most, 70000);
  EXPECT_EQ(of.mostAt, 3);
  EXPECT_NEAR(of.mean, (0 - 3 + 1 + 70000 + 1e-6 + 1) / 6, 1e-9);
  EXPECT_NEAR(of.rms, std::sqrt((9 + 1 + 70000.0 * 70000 + 1) / 6), 1e-6);
  ASSERT_EQ(of.narrow.size(), 2U);
  EXPECT_EQ(of.narrow[0], (NarrowCounts{DataType::BF16, 0, 0, 0}));
  EXPECT_EQ(of.narrow[1], (NarrowCounts{DataType::F16, 1, 0, 1}));
  EXPECT_EQ(of.distinct.size(), 5U);
  EXPECT_EQ(of.distinct[0], (std::pair<std::string, std::int64_t>("-3", 1)));
  EXPECT_EQ(of.histogram.count(), 6);
  EXPECT_EQ(indexText(tensor.dims(), of.mostAt), "[0, 3]");
}

TEST(TensorStatistics, IntegersAndTruthValuesKeepTheirDigits) {
  const std::vector<std::int64_t> large{9007199254740993, -1};
  const Tensor whole = Tensor::copyOf<std::int64_t>(DataType::I64, {2}, large);
  EXPECT_EQ(elementText(whole, statistics(whole).mostAt), "9007199254740993");
  EXPECT_TRUE(statistics(whole).narrow.empty());
  const std::vector<std::uint8_t> bits{1, 0, 1};
  const Tensor truth = Tensor::copyOf<std::uint8_t>(DataType::Bool, {3}, bits);
  const TensorStatistics of = statistics(truth);
  ASSERT_EQ(of.distinct.size(), 2U);
  EXPECT_EQ(of.distinct[0].first, "false");
  EXPECT_EQ(of.distinct[1], (std::pair<std::string, std::int64_t>("true", 2)));
}

TEST(TensorStatistics, PackedCodesAreReadOneByOne) {
  Tensor packed = Tensor::zeros(DataType::I4, {3});
  packed.mutableBytes()[0] = std::byte{0x7F};  // -1, then 7
  packed.mutableBytes()[1] = std::byte{0x08};  // -8
  const TensorStatistics of = statistics(packed);
  EXPECT_EQ(of.least, -8);
  EXPECT_EQ(of.most, 7);
  EXPECT_EQ(of.mostAt, 1);
  EXPECT_EQ(elementText(packed, 0), "-1");
}

TEST(TensorStatistics, WhatHasNoNumbersSaysWhy) {
  EXPECT_EQ(statistics(Tensor::zeros(DataType::F32, {3, 0})).unavailable, "it has no elements");
  EXPECT_NE(statistics(Tensor::withoutData(DataType::F32, {2})).unavailable.find("no data"), std::string::npos);
  const Tensor list = Tensor::ofElements(Container::Sequence, DataType::F32, {floats({1}, {1}), floats({1}, {2})});
  EXPECT_EQ(statistics(list).unavailable, "it is a sequence of 2 tensors, not a tensor");
  const TensorStatistics texts = statistics(Tensor::ofStrings({3}, {"b", "a", "b"}));
  EXPECT_EQ(texts.unavailable, "it contains strings");
  ASSERT_EQ(texts.distinct.size(), 2U);
  EXPECT_EQ(texts.distinct[1], (std::pair<std::string, std::int64_t>("\"b\"", 2)));
}

TEST(TensorStatistics, AScalarHasNoAxes) {
  const TensorStatistics of = statistics(Tensor::scalar(2.5F));
  EXPECT_EQ(of.count, 1);
  EXPECT_EQ(of.mean, 2.5);
  EXPECT_EQ(indexText({}, of.leastAt), "[]");
}

TEST(TensorStatistics, LargeOnesAreSampledInEveryColumn) {
  std::vector<float> values(1000 * 8);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 8);
  const TensorStatistics of = statistics(floats({1000, 8}, values), 1000);
  EXPECT_LE(of.looked, 1000);
  EXPECT_GT(of.looked, 500);
  EXPECT_EQ(of.stride, 9) << "8 would meet one column alone";
  EXPECT_EQ(of.distinct.size(), 8U);
}

TEST(TensorStatistics, StopWhenTheyAreToldTo) {
  std::stop_source stop;
  stop.request_stop();
  const auto result = statisticsOf(floats({1}, {1}), INT64_MAX, stop.get_token());
  ASSERT_FALSE(result.ok());
  EXPECT_TRUE(result.error().cancelled);
}

TEST(TensorDifference, SaysWhereItIsLargest) {
  const Tensor exact = floats({2, 2}, {3, -4, 0, 70000}), planned = floats({2, 2}, {3, -4.5F, 0.25F, INFINITY});
  const auto difference = differenceOf(planned, exact).value();
  EXPECT_EQ(difference.maxAbs, 0.5);
  EXPECT_EQ(difference.at, 1);
  EXPECT_EQ(difference.notFinite, 1);
  EXPECT_EQ(difference.firstNotFinite, 3);
  EXPECT_NEAR(difference.maxOverRms, 0.5 / std::sqrt((9 + 16 + 70000.0 * 70000) / 4), 1e-9);
  EXPECT_EQ(difference.tensor.data<float>()[2], 0.25F);
  EXPECT_TRUE(std::isnan(difference.tensor.data<float>()[3]));
  EXPECT_FALSE(differenceOf(planned, floats({4}, {1, 2, 3, 4})).value().unavailable.empty());
}

TEST(TensorSlice, TakesTwoAxesAtAPlaceOfTheOthers) {
  std::vector<float> values(2 * 3 * 4);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const Tensor tensor = floats({2, 3, 4}, values);
  const SliceChoice usual = usualSlice(tensor.dims());
  EXPECT_EQ(toText(usual), "0,:,:");
  const auto choice = sliceFromText(":,2,:", tensor.dims());
  ASSERT_TRUE(choice.ok());
  const auto slice = sliceOf(tensor, choice.value(), 100, 100).value();
  EXPECT_EQ(slice.rows, 2);
  EXPECT_EQ(slice.columns, 4);
  EXPECT_EQ(slice.numbers, (std::vector<double>{8, 9, 10, 11, 20, 21, 22, 23}));
  EXPECT_EQ(slice.elements[4], 20);
  EXPECT_EQ(slice.least, 8);
  EXPECT_EQ(slice.most, 23);
  for (const char* wrong : {"0,0", ":,:,:", "0,3,:", "0,x,:", "-1,:,:"})
    EXPECT_FALSE(sliceFromText(wrong, tensor.dims()).ok()) << wrong;
}

TEST(TensorSlice, ACellShowsTheLargestElementOfItsBlock) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor tensor = floats({2, 4}, {1, -5, 0, nan, 2, 3, INFINITY, 1});
  const auto slice = sliceOf(tensor, usualSlice(tensor.dims()), 1, 2).value();
  EXPECT_EQ(slice.blockRows, 2);
  EXPECT_EQ(slice.blockColumns, 2);
  ASSERT_EQ(slice.numbers.size(), 2U);
  EXPECT_EQ(slice.numbers[0], -5);
  EXPECT_EQ(slice.elements[0], 1);
  EXPECT_TRUE(std::isnan(slice.numbers[1]));
  EXPECT_EQ(slice.elements[1], 3);
}

TEST(TensorSlice, OfOneAxisIsARowAndOfNoneOneCell) {
  const auto row = sliceOf(floats({3}, {1, 2, 3}), usualSlice({3}), 10, 10).value();
  EXPECT_EQ(row.rows, 1);
  EXPECT_EQ(row.columns, 3);
  const auto one = sliceOf(Tensor::scalar(4), usualSlice({}), 10, 10).value();
  EXPECT_EQ(one.numbers, std::vector<double>{4});
}

}  // namespace
}  // namespace fusescope::test
