// What a plan calls one kernel is one kernel in the engine: shared cases and networks, built natively.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "interchange/npz.h"
#include "session/artifact.h"
#include "session/inputs/random_inputs.h"
#include "tests/support/paths.h"
#include "tests/unit/networks/network_engine.h"

namespace fusescope {
namespace {

using test::engineFor;

/// The tactics of the fused nodes of `kind`, in the order of the plan.
std::vector<std::string> tacticsOf(const Engine& engine, std::string_view kind) {
  std::vector<std::string> tactics;
  for (const FusedNode& fused : engine.plan().fusedNodes) {
    if (fused.kind != kind) continue;
    for (const TacticChoice& choice : engine.report().tactics)
      if (choice.fusedNode == fused.name) tactics.push_back(choice.chosen);
  }
  return tactics;
}

void expectReferencesOutputs(const std::filesystem::path& path, const std::map<std::string, Tensor>& inputs) {
  const auto native = engineFor(path, "native"), reference = engineFor(path, "reference");
  const auto ours = native->run(inputs), expected = reference->run(inputs);
  ASSERT_TRUE(ours.ok()) << ours.error().text();
  ASSERT_TRUE(expected.ok()) << expected.error().text();
  ASSERT_FALSE(expected.value().outputs.empty());
  for (const TensorComparison& one : compareAll(ours.value().outputs, expected.value().outputs, {.rms = 1e-5}))
    EXPECT_TRUE(one.ok) << path << " " << one.name << ": " << one.problem << " max|d| " << one.maxAbs;
}

void expectReferencesOutputs(const std::filesystem::path& path) {
  expectReferencesOutputs(path, randomInputs(engineFor(path, "reference")->plan()));
}

class AttentionCase : public testing::TestWithParam<const char*> {};

TEST_P(AttentionCase, IsOneStepAndEqualsTheReference) {
  FUSESCOPE_REQUIRE_SHARED();
  const auto path = *test::sharedFolder() / "cases" / (std::string(GetParam()) + ".onnx");
  EXPECT_EQ(tacticsOf(*engineFor(path, "native"), "attention"), std::vector<std::string>{"native:attention"});
  expectReferencesOutputs(path);
}

INSTANTIATE_TEST_SUITE_P(Cases, AttentionCase, testing::Values("attn_plain", "attn_where", "attn_bias"),
                         [](const auto& info) { return std::string(info.param); });

TEST(AttentionCase, ScoresBeyondTheRangeOfHalfPrecision) {
  FUSESCOPE_REQUIRE_SHARED();
  const auto arrays = readNpz(*test::sharedFolder() / "cases" / "attn_big.npz");
  ASSERT_TRUE(arrays.ok()) << arrays.error().text();
  expectReferencesOutputs(*test::sharedFolder() / "cases" / "attn_plain.onnx", inputsFrom(arrays.value()));
}

class AttentionNetwork : public testing::TestWithParam<std::pair<const char*, std::size_t>> {};

TEST_P(AttentionNetwork, KeepsItsKernels) {
  FUSESCOPE_REQUIRE_SHARED();
  const auto& [network, count] = GetParam();
  const auto path = test::zooModel(network);
  ASSERT_TRUE(path);
  EXPECT_EQ(tacticsOf(*engineFor(*path, "native"), "attention"), std::vector<std::string>(count, "native:attention"));
  expectReferencesOutputs(*path);
}

INSTANTIATE_TEST_SUITE_P(Zoo, AttentionNetwork,
                         testing::Values(std::pair("bert_tiny", 2U), std::pair("bert_tiny_eager", 2U),
                                         std::pair("decoder_kv", 3U), std::pair("diffusion_block", 2U),
                                         std::pair("llama_tiny", 2U)),
                         [](const auto& info) { return std::string(info.param.first); });

TEST(QuantisedCase, IsOneStepOfTheConvolutionsKernel) {
  FUSESCOPE_REQUIRE_SHARED();
  const auto path = *test::sharedFolder() / "cases" / "qdq.onnx";
  const auto engine = engineFor(path, "native");
  ASSERT_EQ(engine->report().tactics.size(), 1U);
  const std::string& tactic = engine->report().tactics[0].chosen;
  EXPECT_TRUE(tactic.starts_with("onednn:conv:") || tactic.starts_with("native:byte_conv")) << tactic;
  EXPECT_EQ(tactic.find("reference"), std::string::npos) << tactic;
  // Many sums lie half way between two codes: the reference, whose sums are of floats, may take the other.
  constexpr float kStep = 0.2F;
  const auto reference = engineFor(path, "reference");
  const auto inputs = randomInputs(reference->plan());
  const Tensor ours = engine->run(inputs).value().outputs.at("y");
  const Tensor expected = reference->run(inputs).value().outputs.at("y");
  std::int64_t others = 0;
  for (std::int64_t i = 0; i < ours.count(); ++i) {
    const double difference = std::abs(ours.asDouble(i) - expected.asDouble(i));
    EXPECT_LT(difference, 1.01 * kStep) << i;
    others += difference > 0.01 * kStep ? 1 : 0;
  }
  EXPECT_LE(others, ours.count() / 50);
}

TEST(GroupedConvolutionCase, IsBuiltByTheTacticThatIsOffered) {
  FUSESCOPE_REQUIRE_SHARED();
  expectReferencesOutputs(*test::sharedFolder() / "cases" / "grouped_conv_refused.onnx");
}

}  // namespace
}  // namespace fusescope
