// Samples that hold NaN, or that the network fails on: every verb says which sample and which input it is.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/files.h"
#include "interchange/npz.h"
#include "onnxlib/onnx_text.h"
#include "tests/unit/cli/cli_fixture.h"

namespace fusescope::test {
namespace {

using Words = std::vector<std::string>;

class BadInputs : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (m_folder / name).string(); }

  /// y = Gather(x · x, i).
  std::string network() const {
    const auto bytes = onnxlib::onnxTextToBytes(
        "<ir_version: 8, opset_import: [\"\" : 18]>\n"
        "net (float[4] x, int64[2] i) => (float[2] y) { [square] s = Mul(x, x) [pick] y = Gather(s, i) }");
    EXPECT_TRUE(bytes.ok()) << bytes.error().text();
    return m_folder.write("model.onnx", bytes.value()).string();
  }

  std::string sample(const std::string& name, std::vector<float> x, std::vector<std::int64_t> i = {0, 3}) const {
    EXPECT_TRUE(writeNpz(path(name + ".npz"), {{"x", Tensor::copyOf<float>(DataType::F32, {4}, x)},
                                               {"i", Tensor::copyOf<std::int64_t>(DataType::I64, {2}, i)}})
                    .ok());
    return path(name + ".npz");
  }
  std::string good() const { return sample("good", {1, 2, 3, 4}); }
  std::string nan() const { return sample("nan", {NAN, INFINITY, -INFINITY, NAN}); }
  std::string outside() const { return sample("outside", {1, 2, 3, 4}, {0, 9}); }

  /// `verb` of the network on these samples.
  ProcessResult ran(const std::string& verb, const Words& samples, Words more = {}) const {
    Words words{verb, network()};
    for (const std::string& given : samples) words.insert(words.end(), {"--inputs", given});
    words.insert(words.end(), more.begin(), more.end());
    return fusescopeCommand(words);
  }

  TemporaryFolder m_folder;
};

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

constexpr const char* kWhich = "input 'x' of sample 'nan' holds 2 NaN and 2 infinities";

TEST_F(BadInputs, ErrorsThatCannotBeToldHaveNoNumbers) {
  const auto text = ran("errors", {nan()}, {"--precision", "bf16"});
  EXPECT_EQ(text.status, 2) << text.err;
  EXPECT_TRUE(holds(text.out, kWhich)) << text.out;
  EXPECT_TRUE(holds(text.out, "output y: its error cannot be measured")) << text.out;
  EXPECT_FALSE(holds(text.out, "  0  ")) << text.out;
  const auto result = ran("errors", {nan()}, {"--precision", "bf16", "--json"});
  EXPECT_EQ(result.status, 2);
  const Json json = Json::parse(result.out);
  for (const char* how : {"local", "carried"})
    for (const char* number : {"max_abs", "max_over_rms", "rel_l2", "cosine", "ulp"})
      EXPECT_TRUE(json["outputs"][0][how][number].is_null()) << how << " " << number;
  EXPECT_TRUE(json["outputs"][0]["carried"]["problem"].is_string());
  const Json odd = {{"sample", "nan"}, {"input", "x"}, {"nan", 2}, {"infinite", 2}};
  EXPECT_EQ(json["not_finite_inputs"], Json::array({odd}));
}

TEST_F(BadInputs, ErrorsOfWhatCanBeComparedStandBesideWhatCannot) {
  const auto text = ran("errors", {good(), nan()}, {"--precision", "bf16"});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_TRUE(holds(text.out, kWhich)) << text.out;
  EXPECT_TRUE(holds(text.out, "output y: max|Δ| ")) << text.out;
  EXPECT_TRUE(holds(text.out, "not comparable 50 %")) << text.out;
}

TEST_F(BadInputs, EveryVerbNamesInputAndSample) {
  EXPECT_TRUE(
      writeNpz(path("y.npz"), {{"y", Tensor::copyOf<float>(DataType::F32, {2}, std::vector<float>{1, 16})}}).ok());
  const auto run = ran("run", {nan()}, {"--expect", path("y.npz")});
  EXPECT_EQ(run.status, 1);
  EXPECT_TRUE(holds(run.out, kWhich)) << run.out;
  EXPECT_TRUE(holds(ran("verify", {nan()}, {"--seeds", "0"}).out, kWhich));
  const auto compared = ran("compare", {nan()}, {network(), "--seconds", "0"});
  EXPECT_TRUE(holds(compared.out, kWhich)) << compared.out << compared.err;
  EXPECT_TRUE(holds(compared.out, "neither side contains a finite number")) << compared.out;
  const auto tuned = ran("tune", {good(), nan()}, {"--precision", "bf16", "--max-error", "0.1", "-o", path("p.json")});
  EXPECT_EQ(tuned.status, 2);
  EXPECT_TRUE(holds(tuned.err, "on sample nan: ") && holds(tuned.err, kWhich)) << tuned.err;
  const auto exported = ran("export", {nan()}, {"--precision", "bf16", "--to", "onnx", "-o", path("out.onnx")});
  EXPECT_NE(exported.status, 0);
  EXPECT_TRUE(holds(exported.err, kWhich)) << exported.err;
}

TEST_F(BadInputs, CalibrateNamesInputAndSample) {
  const std::string model = samplePath("fp16_overflow");
  Tensor x = Tensor::zeros(DataType::F32, {4, 64});
  x.mutableData<float>()[7] = NAN;
  EXPECT_TRUE(writeNpz(path("odd.npz"), {{"x", x}}).ok());
  const auto result = fusescopeCommand({"calibrate", model, "--inputs", path("odd.npz"), "-o", path("r.json")});
  EXPECT_EQ(result.status, 2);
  EXPECT_TRUE(holds(result.err, "input 'x' of sample 'odd' holds 1 NaN")) << result.err;
  EXPECT_FALSE(holds(result.err, "fusescope errors")) << "it is not the network: " << result.err;
}

TEST_F(BadInputs, OutputsWithoutNumbersOnBothSidesAreEqualAndHaveNoNumbers) {
  ASSERT_EQ(ran("run", {nan()}, {"--outputs", path("out.npz")}).status, 0);
  const auto text = ran("run", {nan()}, {"--expect", path("out.npz")});
  EXPECT_EQ(text.status, 0);
  EXPECT_TRUE(holds(text.out, "neither side contains a finite number")) << text.out;
  EXPECT_FALSE(holds(text.out, "1.000000000")) << text.out;
  const Json json = jsonOf(ran("run", {nan()}, {"--expect", path("out.npz"), "--json"}));
  EXPECT_EQ(json["ok"], true);
  EXPECT_TRUE(json["outputs"][0]["max_over_rms"].is_null());
  EXPECT_EQ(json["outputs"][0]["problem"], "neither side contains a finite number");
}

TEST_F(BadInputs, WhatFailsOnOneSampleOfSeveralNamesIt) {
  const Words both{good(), outside()};
  const auto lowered = [](Words more) {
    more.insert(more.begin(), {"--precision", "bf16"});
    return more;
  };
  for (const auto& [verb, more] : {std::pair<std::string, Words>{"run", {}},
                                   {"errors", lowered({})},
                                   {"errors", lowered({"--against", "f64"})},
                                   {"tune", lowered({"--max-error", "0.1", "-o", path("p.json")})},
                                   {"calibrate", {"-o", path("r.json")}},
                                   {"export", lowered({"--to", "onnx", "-o", path("out.onnx")})}}) {
    const auto result = ran(verb, both, more);
    EXPECT_EQ(result.status, 2) << verb;
    EXPECT_TRUE(holds(result.err, "on sample outside: ")) << verb << ": " << result.err;
    EXPECT_FALSE(holds(ran(verb, {outside()}, more).err, "on sample")) << verb << ": there is no other";
  }
}

}  // namespace
}  // namespace fusescope::test
