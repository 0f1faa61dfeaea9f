// What is advised about regions: tried again with TensorRT for RTX, and given where it applies.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "compilers/tensorrt/region_advice.h"
#include "compilers/tensorrt_rtx/build_log.h"
#include "compilers/tensorrt_rtx/layer_reader.h"
#include "tests/unit/compilers/tensorrt_rtx_testing.h"

namespace fusescope::test {
namespace {

/// What TensorRT for RTX makes of a network, with the plan that its nodes are of.
struct Tried {
  std::shared_ptr<const Plan> plan;
  ReadBack made;

  /// How many kernels hold some of these nodes, and whether one holds all.
  std::size_t kernelsOf(const std::vector<std::string>& names) const {
    return static_cast<std::size_t>(std::ranges::count_if(made.kernels, [&](const ReadBackKernel& kernel) {
      return std::ranges::any_of(names, [&](const std::string& name) { return holds(kernel, name); });
    }));
  }
  bool holds(const ReadBackKernel& kernel, const std::string& name) const {
    const auto node = plan->graph().findNode(name);
    return node && std::ranges::any_of(kernel.nodes, [&](const auto& held) { return held.first == *node; });
  }
  bool shareKernel(const std::string& a, const std::string& b) const {
    return std::ranges::any_of(made.kernels,
                               [&](const ReadBackKernel& kernel) { return holds(kernel, a) && holds(kernel, b); });
  }
  std::vector<std::string> advice() const {
    std::vector<std::string> codes;
    for (const Decision& decision : regionAdvice(*plan, made.kernels)) codes.push_back(decision.code);
    return codes;
  }
};

/// "{0.1, 0.2, …}" in place of "#N", of N elements.
std::string filled(std::string graph) {
  for (std::size_t at = graph.find('#'); at != std::string::npos; at = graph.find('#', at)) {
    std::size_t end = at + 1;
    while (std::isdigit(static_cast<unsigned char>(graph[end])) != 0) ++end;
    std::string elements;
    for (int i = std::stoi(graph.substr(at + 1, end - at - 1)); i > 0; --i)
      elements += (elements.empty() ? "" : ", ") + std::to_string(0.01 * (i % 17 - 8));
    graph.replace(at, end - at, "{" + elements + "}");
  }
  return graph;
}

Tried tried(const std::string& graph, const PlanOptions& options = rtxOptions()) {
  Handed handed(filled(graph), options);
  const auto job = rtxJob();
  if (job == nullptr) return {};
  const auto compiled = askRtx(*job, "compile", handed.network());
  EXPECT_TRUE(compiled.ok()) << (compiled.ok() ? "" : compiled.error().text());
  if (!compiled.ok()) return {};
  const auto log = readBuildLog(readTextFile(compiled.value().files.at("log.jsonl")).value());
  EXPECT_TRUE(log.ok()) << (log.ok() ? "" : log.error().text());
  return log.ok() ? Tried{handed.plan(), readLayers(handed.network(), log.value())} : Tried{};
}

/// MatMul · Add · Relu with something between Add and Relu, which reads c and makes d.
std::string product(const std::string& between, const std::string& outputs = "", const std::string& inputs = "") {
  return "net (float[64,64] x" + inputs + ") => (float[64,64] y" + outputs +
         R"() <float[64,64] w = #4096, float[64] b = #64, float step = {0.05}, int8 zero = {0}, int64[1] flat = {-1},
    int64[2] square = {64,64}> {
  [product] a = MatMul (x, w)
  [bias] c = Add (a, b)
  )" + between +
         R"(
  [relu] y = Relu (d)
})";
}

std::string attention(const std::string& type, const std::string& softmax, const std::string& outputs = "") {
  return "net (" + type + "[1,8,128,64] q, " + type + "[1,8,128,64] k, " + type + "[1,8,128,64] v) => (" + type +
         "[1,8,128,64] y" + outputs + R"() {
  [turn] t = Transpose <perm = [0,1,3,2]> (k)
  [scores] s = MatMul (q, t)
  )" + softmax +
         R"(
  [weighted] y = MatMul (p, v)
})";
}

const char* const kSoftmax = "[softmax] p = Softmax <axis = -1> (s)";

bool has(const std::vector<std::string>& codes, const std::string& code) {
  return std::ranges::find(codes, code) != codes.end();
}

TEST(RegionAdvice, IsGivenOfChainsAndOfRegionsThatAreOneKernel) {
  Handed handed("net (float[4] x) => (float[4] z) { [a] v = Relu (x) [b] y = Exp (v) [c] z = Tanh (y) }", rtxOptions());
  const auto codesOf = [&](const std::string& name, const std::string& region) {
    ReadBackKernel kernel{.name = name, .region = region};
    for (const char* held : {"a", "b"})
      kernel.nodes.emplace_back(*handed.plan()->graph().findNode(held), Certainty::Named);
    std::vector<std::string> codes;
    for (const Decision& decision : regionAdvice(*handed.plan(), {kernel})) codes.push_back(decision.code);
    return codes;
  };
  EXPECT_EQ(codesOf("a_b", "region"), std::vector<std::string>{"build.region_cut_chain"});
  EXPECT_EQ(codesOf("region", "region"), std::vector<std::string>{"build.region_whole"});
  EXPECT_EQ(codesOf("a_b", ""), std::vector<std::string>());
}

TEST(RegionAdvice, WhatDoesNotCutAProductsKernel) {
  FUSESCOPE_REQUIRE_TENSORRT_RTX();
  for (const char* between : {"[back] d = Identity (c)", "[low] l = Cast <to = 10> (c) [back] d = Cast <to = 1> (l)",
                              "[line] l = Reshape (c, flat) [back] d = Reshape (l, square)",
                              "[turn] l = Transpose <perm = [1,0]> (c) [back] d = Transpose <perm = [1,0]> (l)"}) {
    const Tried made = tried(product(between));
    ASSERT_NE(made.plan, nullptr) << between;
    EXPECT_TRUE(made.shareKernel("product", "relu")) << between;
    EXPECT_TRUE(has(made.advice(), "build.region_cut_product")) << between;
  }
  const Tried given = tried(product("[back] d = Identity (c)", ", float[64,64] c"));
  EXPECT_TRUE(given.shareKernel("product", "relu")) << "an output of the network";
}

TEST(RegionAdvice, WhatCutsAProductsKernel) {
  FUSESCOPE_REQUIRE_TENSORRT_RTX();
  const Tried codes =
      tried(product("[q] l = QuantizeLinear (c, step, zero) [back] d = DequantizeLinear (l, step, zero)"));
  ASSERT_NE(codes.plan, nullptr);
  EXPECT_FALSE(codes.shareKernel("product", "relu"));
  const Tried choice = tried(product(
      "[choice] d = If (f) <then_branch = t () => (float[64,64] o) { [one] o = Identity (c) }, else_branch = e () => "
      "(float[64,64] u) { [other] u = Identity (c) }>",
      "", ", bool f"));
  ASSERT_NE(choice.plan, nullptr);
  EXPECT_FALSE(choice.shareKernel("product", "relu"));
}

TEST(RegionAdvice, AttentionIsOneKernelInF16) {
  FUSESCOPE_REQUIRE_TENSORRT_RTX();
  const std::vector<std::string> nodes{"scores", "softmax", "weighted"};
  const Tried narrow = tried(attention("float16", kSoftmax));
  ASSERT_NE(narrow.plan, nullptr);
  EXPECT_EQ(narrow.kernelsOf(nodes), 1U);
  EXPECT_FALSE(has(narrow.advice(), "build.region_attention_wide"));
  const Tried inside = tried(attention(
      "float16", "[up] u = Cast <to = 1> (s) [softmax] r = Softmax <axis = -1> (u) [down] p = Cast <to = 10> (r)"));
  EXPECT_EQ(inside.kernelsOf(nodes), 1U) << "the Softmax in f32 between Casts";
  const Tried wide = tried(attention("float", kSoftmax));
  ASSERT_NE(wide.plan, nullptr);
  EXPECT_GT(wide.kernelsOf(nodes), 1U);
  EXPECT_TRUE(has(wide.advice(), "build.region_attention_wide"));
  const Tried given = tried(attention("float16", kSoftmax, ", float16[1,8,128,128] s"));
  ASSERT_NE(given.plan, nullptr);
  EXPECT_GT(given.kernelsOf(nodes), 1U);
  EXPECT_TRUE(has(given.advice(), "build.region_attention_output"));
  EXPECT_FALSE(has(given.advice(), "build.region_attention_wide"));
}

TEST(RegionAdvice, TypesInARegionHoldWhereTheNetworkHasThem) {
  FUSESCOPE_REQUIRE_TENSORRT_RTX();
  PlanOptions options = rtxOptions({DataType::F16});
  options.directives = {testing::pin("second=f32")};
  const Tried made = tried(R"(
net (float[64,64] x) => (float[64,64] y) <float[64,64] w = #4096, float[64,64] v = #4096> {
  [first] a = MatMul (x, w)
  [relu] b = Relu (a)
  [second] c = MatMul (b, v)
  [last] y = Relu (c)
})",
                           options);
  ASSERT_NE(made.plan, nullptr);
  const auto movesWide = [](const ReadBackKernel& kernel) {
    const auto isWide = [](const KernelValue& value) { return value.type == DataType::F32; };
    return std::ranges::any_of(kernel.inputs, isWide) || std::ranges::any_of(kernel.outputs, isWide);
  };
  std::size_t ofSecond = 0;
  for (const ReadBackKernel& kernel : made.made.kernels) {
    if (!made.holds(kernel, "second")) continue;
    ++ofSecond;
    EXPECT_TRUE(movesWide(kernel)) << kernel.name;
  }
  EXPECT_GT(ofSecond, 0U);
}

}  // namespace
}  // namespace fusescope::test
