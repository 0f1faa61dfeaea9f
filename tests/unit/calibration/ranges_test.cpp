#include <gtest/gtest.h>

#include "base/json.h"
#include "calibration/ranges.h"
#include "calibration/weight_codes.h"
#include "tests/support/paths.h"

namespace fusescope::test {
namespace {

Ranges someRanges() {
  Histogram histogram;
  histogram.add(std::vector<float>{-1, 2, 3});
  Ranges ranges{.settings = {.choice = {.method = RangeMethod::Percentile, .percentile = 99.5}, .exclude = {"op:Gemm"}},
                .samples = 3};
  ranges.edges = {{"a", {{-1, 2.5}, histogram}}, {"b: \"c\"", {{0, 1}}}};
  ranges.weights = {{"w", {0, {1, 2, 3}}}, {"v", {-1, {0.5F}}}};
  ranges.channels = {{"a", {{0.25F, 1}, {2, 3}}}};
  return ranges;
}

TEST(RangesFile, ComesBackAsItWas) {
  const TemporaryFolder folder;
  const std::string text = rangesText(someRanges());
  const auto back = readRanges(folder.write("r.json", text));
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_EQ(back.value(), someRanges());
  EXPECT_EQ(rangesText(back.value()), text);
  EXPECT_NE(text.find("\n    \"a\": {"), std::string::npos) << "an edge a line";
}

TEST(RangesFile, IsToldByItsBeginning) {
  const TemporaryFolder folder;
  EXPECT_TRUE(isRangesFile(folder.write("r.json", rangesText(someRanges()))));
  EXPECT_TRUE(isRangesFile(folder.write("c.cache", "TRT-8204-EntropyCalibration2\nx: 3c010a14\n")));
  EXPECT_FALSE(isRangesFile(folder.write("d.json", "{\"format\": \"fusescope.directives\"}")));
  EXPECT_FALSE(isRangesFile(folder.write("e.json", "")));
  EXPECT_FALSE(isRangesFile(folder / "none.json"));
}

TEST(RangesFile, HistogramsDoNotCountForQuantization) {
  Ranges plain = someRanges();
  plain.edges["a"].histogram.reset();
  EXPECT_EQ(plain.contentHash(), someRanges().contentHash());
  plain.edges["a"].range.high = 2.25;
  EXPECT_NE(plain.contentHash(), someRanges().contentHash());
}

std::string errorOf(std::string_view text) {
  const TemporaryFolder folder;
  const auto read = readRanges(folder.write("r.json", text));
  EXPECT_FALSE(read.ok()) << text;
  return read.ok() ? "" : read.error().text();
}

TEST(RangesFile, WhatIsWrongIsSaidWithItsPlace) {
  EXPECT_NE(errorOf("").find("the file is empty"), std::string::npos);
  EXPECT_NE(errorOf("{ nonsense").find("neither JSON nor a calibration cache"), std::string::npos);
  EXPECT_NE(errorOf("{\"format\": \"other\"}").find("format"), std::string::npos);
  const auto edited = [](const char* part, Json entry) {
    Json json = toJson(someRanges(), Histograms::Written);
    json[part] = std::move(entry);
    return errorOf(json.dump());
  };
  EXPECT_NE(edited("version", 99).find("version"), std::string::npos);
  EXPECT_NE(edited("method", "median").find("'median' is not a method"), std::string::npos);
  EXPECT_NE(edited("weights_method", "entropy").find("too few numbers"), std::string::npos);
  EXPECT_NE(edited("edges", {{"q", {{"low", 1}, {"high", 2}}}}).find("the range of q"), std::string::npos);
  EXPECT_NE(edited("weights", {{"q", {{"axis", -1}, {"largest", {1, 2}}}}}).find("q must have one range"),
            std::string::npos);
  EXPECT_NE(edited("channels", {{"q", {{"mean", {1}}, {"largest", {1, 2}}}}}).find("q must have"), std::string::npos);
  EXPECT_NE(edited("samples", "three").find("key 'samples': has the wrong type"), std::string::npos);
  EXPECT_NE(edited("edges", {{"q", {{"low", -1}}}}).find("key 'edges.q.high': is missing"), std::string::npos);
  EXPECT_NE(edited("weights", {{"q", 3}}).find("weights.q"), std::string::npos);
  EXPECT_NE(edited("edge", Json::object()).find("'edge': is not a key of ranges; the nearest is 'edges'"),
            std::string::npos)
      << edited("edge", Json::object());
  EXPECT_NE(edited("edges", {{"q", {{"low", -1}, {"high", 2}, {"hihg", 3}}}}).find("'edges.q.hihg': is not a key"),
            std::string::npos);
  std::string twice = toJson(someRanges(), Histograms::Written).dump();
  twice.insert(1, "\"method\":\"mse\",");
  EXPECT_NE(errorOf(twice).find("'method': this key occurs twice"), std::string::npos) << errorOf(twice);
}

TEST(TensorRtCache, ScalesAreRanges) {
  const TemporaryFolder folder;
  const auto ranges =
      readRanges(folder.write("c.cache", "TRT-8204-EntropyCalibration2\ndata: 3f800000\nlayer: 2: 3c010a14\r\n"));
  ASSERT_TRUE(ranges.ok()) << ranges.error().text();
  EXPECT_EQ(ranges.value().from, "tensorrt");
  EXPECT_EQ(ranges.value().settings.choice.method, RangeMethod::Entropy);
  EXPECT_TRUE(ranges.value().settings.choice.symmetric);
  EXPECT_EQ(ranges.value().edges.at("data").range, (ValueRange{-127, 127}));
  EXPECT_NEAR(ranges.value().edges.at("layer: 2").range.high, 1.0, 1e-3) << "split at the last colon";
  EXPECT_NE(errorOf("TRT-8204-MinMaxCalibration\nx: 3f8\n").find("line 2: '3f8' is not"), std::string::npos);
  EXPECT_NE(errorOf("TRT-8204-MinMaxCalibration\nx 3f800000\n").find("line 2: the line is not NAME"),
            std::string::npos);
  EXPECT_NE(errorOf("TRT-8204-MinMaxCalibration\nx: 7f800000\n").find("is not a finite number"), std::string::npos);
  EXPECT_NE(errorOf("TRT-8204-EntropyCalibration2\n").find("no tensor has a scale"), std::string::npos);
}

Tensor matrix(const Dims& dims, const std::vector<float>& numbers) {
  return Tensor::copyOf<float>(DataType::F32, dims, numbers);
}

TEST(WeightCodes, EachChannelHasItsScale) {
  const Tensor weights = matrix({2, 3}, {1, -2, 0.5F, 0, 0.1F, 0});
  const WeightCodes rows = codesOf(weights, weightRangeOf(weights, 0, {}));
  EXPECT_EQ(rows.scales.dims(), (Dims{2}));
  EXPECT_EQ(rows.codes.asInt64(1), -127);
  EXPECT_EQ(rows.codes.asInt64(0), 64);  // 63.5, to even
  EXPECT_EQ(rows.codes.asInt64(4), 127);
  const Tensor back = numbersOf(rows);
  for (std::int64_t i = 0; i < 6; ++i) EXPECT_NEAR(back.asDouble(i), weights.asDouble(i), i < 3 ? 0.008 : 0.0005);
  const WeightCodes columns = codesOf(weights, weightRangeOf(weights, 1, {}));
  EXPECT_EQ(columns.codes.asInt64(0), 127);
  EXPECT_EQ(columns.codes.asInt64(4), 6);  // 0.1 of 2
  const WeightCodes one = codesOf(weights, weightRangeOf(weights, -1, {}));
  EXPECT_EQ(one.scales.count(), 1);
  EXPECT_EQ(numbersOf(codesOf(matrix({2}, {0, 0}), {-1, {0}})).asDouble(1), 0);
}

TEST(WeightCodes, BlocksHaveTheirScalesAlongWhatIsSummed) {
  std::vector<float> numbers(5 * 2);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i) - 4.5F;
  for (const DataType type : {DataType::I8, DataType::I4}) {
    for (const std::int64_t axis : {0, 1}) {
      const Tensor weights = axis == 0 ? matrix({5, 2}, numbers) : matrix({2, 5}, numbers);
      const WeightCodes codes = blockCodesOf(weights, type, axis, 2, {});  // 2, 2 and 1
      EXPECT_EQ(codes.scales.dims(), axis == 0 ? (Dims{3, 2}) : (Dims{2, 3}));
      const Tensor back = numbersOf(codes);
      const double step = 4.5 / (type == DataType::I4 ? 7 : 127);
      for (std::int64_t i = 0; i < 10; ++i) EXPECT_NEAR(back.asDouble(i), weights.asDouble(i), 0.51 * step) << i;
      const WeightCodes whole = blockCodesOf(weights, type, axis, 0, {});
      EXPECT_EQ(whole.scales.dims(), (Dims{2}));
      EXPECT_EQ(whole.axis, 1 - axis);
      for (std::int64_t i = 0; i < 10; ++i)
        EXPECT_NEAR(numbersOf(whole).asDouble(i), weights.asDouble(i), 0.51 * step) << i;
    }
  }
}

}  // namespace
}  // namespace fusescope::test
