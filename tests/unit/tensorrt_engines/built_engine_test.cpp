// Engines that Fusescope had built: they are told in the names of the network, and pins by what was asked.
#include <gtest/gtest.h>

#include <algorithm>

#include "compilers/tensorrt/pin_hindrances.h"
#include "compilers/tensorrt/read_built_engine.h"
#include "tests/unit/compilers/tensorrt_rtx_testing.h"

namespace fusescope::test {
namespace {

PlanOptions optionsFor(const std::string& target, const Directives& pins = {}) {
  return {.compiler = "tensorrt", .target = target, .precisions = {DataType::F16}, .directives = pins};
}

ListedTensor tensor(const std::string& name, std::vector<std::int64_t> dims) {
  return {.name = name,
          .type = "Float",
          .dims = std::move(dims),
          .strides = {},
          .strideOrder = {},
          .format = "Row major linear FP32 format"};
}

/// Its nodes have numbers for names, which are not those that they are handed over with.
constexpr const char* kAttention = R"(
net (float[1,8,128,64] q, float[1,8,64,128] k, float[1,8,128,64] v) => (float[1,8,128,64] y) {
  [n3] s = MatMul (q, k)
  [n0] p = Softmax <axis = -1> (s)
  [n1] y = MatMul (p, v)
})";

/// Attention in three kernels of one region.
EngineFiles attentionInRegion(const EngineLog& log) {
  EngineFiles files;
  const std::vector<std::int64_t> wide{1, 8, 128, 128}, narrow{1, 8, 128, 64};
  for (const int node : {0, 1, 2}) {
    const std::string number = std::to_string(node), before = "t" + number, after = "t" + std::to_string(node + 1);
    files.layers.layers.push_back({.name = "__myl_Fc_myl0_" + number,
                                   .type = "kgen",
                                   .tactic = {},
                                   .inputs = {tensor(before, node == 0 ? narrow : wide)},
                                   .outputs = {tensor(after, node == 2 ? narrow : wide)},
                                   .metadata = "[ONNX Layer: n" + number + "]"});
  }
  files.log = log;
  return files;
}

const Decision* decisionOf(const ReadBack& told, std::string_view code) {
  const auto found = std::ranges::find(told.decisions, code, &Decision::code);
  return found == told.decisions.end() ? nullptr : &*found;
}

TEST(BuiltEngine, NamesThatAreNumbersAreNotTakenForThoseThatItWasHandedOverWith) {
  Handed handed(kAttention, optionsFor("tensorrt-10"));
  const ReadBack told = readBuiltEngine(handed.network(), attentionInRegion({}));
  const Decision* advice = decisionOf(told, "build.region_attention_wide");
  ASSERT_NE(advice, nullptr);
  EXPECT_EQ(advice->arguments["scores"], "n3");
  EXPECT_EQ(advice->arguments["weighted"], "n1");
}

TEST(BuiltEngine, WhyAPinIsNotObeyedIsSaidInNamesOfTheNetwork) {
  Handed handed(kAttention, optionsFor("tensorrt-10", {testing::withId(testing::pin("n0=f16"), "p1")}));
  const EngineLog log{.typesIgnored = {"n1[Softmax] + n2[MatMul]"}};
  const ReadBack told = readBuiltEngine(handed.network(), attentionInRegion(log));
  ASSERT_EQ(told.hindrances.size(), 1U);
  EXPECT_EQ(told.hindrances.begin()->second.cause, PinCause::NoTactic);
  EXPECT_NE(told.hindrances.begin()->second.why.find("layer n0[Softmax] + n1[MatMul] obeys"), std::string::npos)
      << told.hindrances.begin()->second.why;
}

TEST(BuiltEngine, TypesThatWereWrittenIntoTheNetworkWereAskedFor) {
  const Directives pins{testing::withId(testing::pin("n0=f16"), "p1")};
  const EngineLog log{.version = "11.1.0", .command = "trtexec --onnx=network.onnx"};
  Handed strong(kAttention, optionsFor("tensorrt-11", pins));
  EXPECT_TRUE(readBuiltEngine(strong.network(), attentionInRegion(log)).hindrances.empty());
  EXPECT_EQ(pinHindrances(strong.network(), log).size(), 1U) << "of a network of others it is not known";
}

TEST(BuiltEngine, AStronglyTypedNetworkOfOthersMayHaveTheTypeItself) {
  Handed handed("net (float16[4] x) => (float16[4] y) { [last] y = Exp (x) }",
                optionsFor("tensorrt-11", {testing::withId(testing::pin("last=f16"), "p1")}));
  EXPECT_TRUE(pinHindrances(handed.network(), {.version = "11.1.0"}).empty());
}

TEST(BuiltEngine, WhatNamesANodeHoldsItAndConvertsNothing) {
  Handed handed(
      R"(net (float[4,8] x) => (float[8,4] y) { [relu] a = Relu (x) [turn] y = Transpose <perm = [1,0]> (a) })",
      optionsFor("tensorrt-10"));
  EngineFiles files;
  files.layers.layers = {{.name = "n0",
                          .type = "PointWiseV2",
                          .tactic = {},
                          .inputs = {tensor("t0", {4, 8})},
                          .outputs = {tensor("t1", {4, 8})},
                          .metadata = "[ONNX Layer: n0]"},
                         {.name = "moved",
                          .type = "Reformat",
                          .tactic = {},
                          .inputs = {tensor("t1", {4, 8})},
                          .outputs = {tensor("t2", {8, 4})},
                          .metadata = "[ONNX Layer: n1]"}};
  const ReadBack told = readBuiltEngine(handed.network(), files);
  ASSERT_EQ(told.kernels.size(), 2U);
  for (const ReadBackKernel& kernel : told.kernels) {
    EXPECT_EQ(kernel.nodes.size(), 1U) << kernel.name;
    EXPECT_FALSE(kernel.converts) << kernel.name;
  }
}

}  // namespace
}  // namespace fusescope::test
