// TensorRT for RTX, through the command: what it answers about nodes, or shows only when it builds, decides which nodes
// fall back, and not our table of its target. Skipped without FUSESCOPE_TEST_TENSORRT_RTX=1 (README.md).
#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

#include "base/json.h"
#include "onnxlib/onnx_text.h"
#include "tests/support/command_json.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"

namespace fusescope::test {
namespace {

/// The table refuses Equal of uint8 (no document mentions it), and the compiler builds it.
constexpr const char* kEqualOfBytes = R"(<ir_version: 8, opset_import: ["" : 18]>
net (uint8[4, 8] x, uint8[4, 8] z) => (bool[4, 8] y) { [same] s = Equal (x, z)  [other] y = Not (s) })";

/// The parser takes NonMaxSuppression, and no build does.
constexpr const char* kSuppression = R"(<ir_version: 8, opset_import: ["" : 18]>
net (float[1, 6, 4] x, float[1, 1, 6] s) => (int64[N, 3] y, float[1, 6, 4] z)
    <int64 most = {3}, float overlap = {0.5}, float least = {0.1}> {
  [relu] b = Relu (x)
  [nms] y = NonMaxSuppression (b, s, most, overlap, least)
  [last] z = Exp (b)
})";

/// Cards of compute capability 7.5 have no bf16: the parser takes it, and a build fails.
constexpr const char* kBf16 = R"(<ir_version: 8, opset_import: ["" : 18]>
net (float[8, 8] x, bfloat16[8, 8] h) => (float[8, 8] y, bfloat16[8, 8] g) {
  [before] a = Relu (x)
  [last] y = Exp (a)
  [narrow] g = MatMul (h, h)
})";

/// The parser knows no integers of 16 bits and names no node because of them; quantisers of its own types are beside
/// it.
constexpr const char* kCounts = R"(<ir_version: 8, opset_import: ["" : 18]>
net (uint16[4, 8] counts, float[4, 8] x) => (float[4, 8] y, uint16[4, 8] sum)
    <uint16[8] ones = {1, 1, 1, 1, 1, 1, 1, 1}, float scale = {0.5}, int8 zero = {0}> {
  [widen] wide = Cast <to = 1> (counts)
  [double] twice = Add (wide, wide)
  [quantise] codes = QuantizeLinear (twice, scale, zero)
  [back] numbers = DequantizeLinear (codes, scale, zero)
  [add] y = Add (numbers, x)
  [count] sum = Add (counts, ones)
})";

/// Every node of it reads what the parser does not know.
constexpr const char* kOnlyCounts = R"(<ir_version: 8, opset_import: ["" : 18]>
net (uint64[4] a, uint64[4] b) => (uint64[4] c) { [first] s = Add (a, b)  [second] c = Mul (s, b) })";

/// Nothing reads the integers of 16 bits.
constexpr const char* kUnread = R"(<ir_version: 8, opset_import: ["" : 18]>
net (uint16[4, 8] unread, float[4, 8] x) => (float[4, 8] y) { [relu] a = Relu (x)  [last] y = Exp (a) })";

class RtxAnswers : public ::testing::Test {
 protected:
  void SetUp() override {
    const char *allowed = std::getenv("FUSESCOPE_TEST_TENSORRT_RTX"),
               *python = std::getenv("FUSESCOPE_TENSORRT_RTX_PYTHON");
    if (allowed == nullptr || std::string_view(allowed) != "1" || python == nullptr)
      GTEST_SKIP() << "TensorRT for RTX is used in tests only with FUSESCOPE_TEST_TENSORRT_RTX=1 (see README.md)";
    ::setenv("FUSESCOPE_PYTHON", python, 1);
    ::setenv("XDG_CONFIG_HOME", (m_folder / "configuration").c_str(), 1);
  }
  void TearDown() override { ::unsetenv("FUSESCOPE_PYTHON"); }

  Json plan(const char* network, std::vector<std::string> how) const {
    const auto bytes = onnxlib::onnxTextToBytes(network);
    EXPECT_TRUE(bytes.ok()) << bytes.error().text();
    how.insert(how.begin(), {"plan", m_folder.write("network.onnx", bytes.value()).string(), "--cache", "off"});
    return commandJson(how);
  }
  static Json entryOf(const Json& list, const char* key, const Json& value) {
    for (const Json& entry : list)
      if (entry.value(key, Json()) == value) return entry;
    return {};
  }

  TemporaryFolder m_folder;
};

TEST_F(RtxAnswers, WhatItTakesIsGivenToItWhateverTheTableSays) {
  const Json plan = this->plan(kEqualOfBytes, {"--compiler", "tensorrt-rtx"});
  ASSERT_EQ(plan["segments"].size(), 1U);
  EXPECT_EQ(plan["segments"][0]["kind"], "accelerated");
  EXPECT_NE(entryOf(plan["nodes"], "node", "same")["fate"], "fallback");
  EXPECT_EQ(entryOf(plan["support"], "node", "same")["taken"], true);
  const Json why = entryOf(plan["decisions"], "code", "validate.predicted_refusal");
  ASSERT_TRUE(why.is_object()) << plan["decisions"].dump(1);
  EXPECT_NE(why["message"].get<std::string>().find("does not support Equal with type uint8"), std::string::npos) << why;
}

TEST_F(RtxAnswers, AnInputThatNothingReadsIsNoReasonToFallBack) {
  const Json plan = this->plan(kUnread, {"--compiler", "tensorrt-rtx"});
  ASSERT_EQ(plan["segments"].size(), 1U) << plan["segments"].dump(1);
  EXPECT_EQ(plan["segments"][0]["kind"], "accelerated") << plan["support"].dump(1);
  const Json said = entryOf(plan["decisions"], "code", "build.input_left_out");
  ASSERT_TRUE(said.is_object()) << plan["decisions"].dump(1);
  EXPECT_EQ(said["subjects"][0]["value"], "unread");
  EXPECT_NE(said["message"].get<std::string>().find("does not have its type uint16"), std::string::npos) << said;
}

TEST_F(RtxAnswers, WithoutItTheTablePredicts) {
  const Json plan = this->plan(kEqualOfBytes, {"--target", "tensorrt-rtx"});
  EXPECT_EQ(plan["segments"].size(), 2U);
  EXPECT_TRUE(entryOf(plan["decisions"], "code", "validate.predicted_refusal").is_null());
}

TEST_F(RtxAnswers, WhatOnlyItsBuildRefusesIsAVerdictOfThatNode) {
  const Json plan = this->plan(kSuppression, {"--compiler", "tensorrt-rtx"});
  const Json nms = entryOf(plan["support"], "node", "nms");
  EXPECT_EQ(nms["taken"], false) << plan["support"].dump(1);
  EXPECT_EQ(nms["found_by"], "build");
  EXPECT_EQ(entryOf(plan["nodes"], "node", "nms")["fate"], "fallback");
  for (const char* node : {"relu", "last"})
    EXPECT_EQ(entryOf(plan["nodes"], "node", node)["fate"], "kernel") << plan["nodes"].dump(1);
  const Json why = entryOf(plan["decisions"], "code", "validate.compiler_failed");
  ASSERT_TRUE(why.is_object()) << plan["decisions"].dump(1);
  EXPECT_EQ(why["subjects"][0]["node"], "nms");
}

TEST_F(RtxAnswers, ATypeThatACardLacksIsFoundByTheBuild) {
  const Json plan = this->plan(kBf16, {"--compiler", "tensorrt-rtx", "--compiler-option", "sm=75"});
  EXPECT_EQ(entryOf(plan["support"], "node", "narrow")["taken"], false) << plan["support"].dump(1);
  EXPECT_EQ(entryOf(plan["support"], "node", "narrow")["found_by"], "build");
  for (const char* node : {"before", "last"})
    EXPECT_NE(entryOf(plan["nodes"], "node", node)["fate"], "fallback") << plan["nodes"].dump(1);
}

/// Nodes around what no node was named for stay with the compiler.
TEST_F(RtxAnswers, ARefusalThatNamesNoNodeIsNarrowedDown) {
  const Json plan = this->plan(kCounts, {"--compiler", "tensorrt-rtx"});
  for (const char* node : {"widen", "count"}) {
    const Json said = entryOf(plan["support"], "node", node);
    EXPECT_EQ(said["taken"], false) << plan["support"].dump(1);
    EXPECT_EQ(said["found_by"], "parser");
    EXPECT_NE(said["message"].get<std::string>().find("cannot read a network with it"), std::string::npos) << said;
    EXPECT_EQ(entryOf(plan["nodes"], "node", node)["fate"], "fallback");
  }
  for (const char* node : {"double", "quantise", "back", "add"})
    EXPECT_NE(entryOf(plan["nodes"], "node", node)["fate"], "fallback") << plan["support"].dump(1);
}

TEST_F(RtxAnswers, WhereNothingIsLeftEverythingFallsBack) {
  const Json plan = this->plan(kOnlyCounts, {"--compiler", "tensorrt-rtx"});
  for (const char* node : {"first", "second"}) {
    EXPECT_EQ(entryOf(plan["nodes"], "node", node)["fate"], "fallback") << plan["support"].dump(1);
    EXPECT_EQ(entryOf(plan["support"], "node", node)["code"], "validate.compiler_refused");
  }
}

TEST_F(RtxAnswers, ASplitEndsWhatItIsHanded) {
  const Json plan = this->plan(R"(<ir_version: 8, opset_import: ["" : 18]>
net (float[8, 8] x) => (float[8, 8] y) { [first] a = MatMul (x, x) [second] b = Relu (a) [third] y = MatMul (b, x) })",
                               {"--compiler", "tensorrt-rtx", "--split", "first"});
  ASSERT_EQ(plan["segments"].size(), 2U);
  for (const Json& segment : plan["segments"]) EXPECT_EQ(segment["kind"], "accelerated");
  EXPECT_EQ(entryOf(plan["decisions"], "code", "build.split_obeyed")["by"], "split:1") << plan["decisions"].dump(1);
}

}  // namespace
}  // namespace fusescope::test
