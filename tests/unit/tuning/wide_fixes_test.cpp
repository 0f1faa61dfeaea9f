#include "tuning/wide_fixes.h"
#include "session/engine_prices.h"
#include "session/open_artifact.h"

#include <gtest/gtest.h>

#include "ir/graph.h"
#include "session/artifact.h"
#include "tests/support/paths.h"
#include "tests/unit/frontends/onnx_files.h"
#include "tuning/plan_runner.h"

namespace fusescope::test {
namespace {

std::shared_ptr<const Plan> planned(const std::string& network, DataType type, Directives directives = {}) {
  PlanOptions options{.precisions = {type}, .directives = std::move(directives)};
  auto artifact = openArtifact(sampleFolder(network) / "model.onnx", {}, options);
  EXPECT_TRUE(artifact.ok()) << artifact.error().text();
  return artifact.value().plan;
}

std::vector<WideFix> fixes(const std::shared_ptr<const Plan>& plan, const std::string& value, Harm harm) {
  const auto prices = measuredPrices();
  auto found = wideFixes(plan, *plan->graph().findValue(value), harm, prices.get());
  EXPECT_TRUE(found.ok()) << found.error().text();
  return std::move(found).value();
}

std::vector<std::string> patterns(const WideFix& fix) {
  std::vector<std::string> names;
  for (const Directive& pin : fix.pins) names.push_back(pin.pattern);
  return names;
}

/// The node that overflows is free to pin, for its kernel holds f32 anyway; the value stays in f16 by its reader.
TEST(WideFixes, OfAnOverflowPinTheReaderToo) {
  const auto plan = planned("fp16_overflow", DataType::F16);
  const auto found = fixes(plan, "relu_1", Harm::NotFinite);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(patterns(found.front()), (std::vector<std::string>{"node_relu_1", "node_layer_norm"}));
  for (const WideFix& fix : found) EXPECT_EQ(fix.plan->storedType(*plan->graph().findValue("relu_1")), DataType::F32);
}

TEST(WideFixes, PinsThatAreThereAreNotOfferedAgain) {
  const auto plan = planned("fp16_overflow", DataType::F16, {parsePin("node_relu_1=f32").value()});
  const auto found = fixes(plan, "relu_1", Harm::NotFinite);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(patterns(found.front()), std::vector<std::string>{"node_layer_norm"});
}

/// What a pin changes in a body is nothing around the value that the Loop makes, and is said all the same.
TEST(WideFixes, OfWhatALoopMakesTheEffectIsSaid) {
  const TemporaryFolder folder;
  const auto path = folder.write("loop.onnx", onnxBytes(R"(g (int64 m, float[4, 4] x) => (float[4, 4] y)
    <float[4, 4] w = {1,2,3,4, 5,6,7,8, 1,2,3,4, 5,6,7,8}> {
      [loop] y = Loop (m, , x) <body = b (int64 i, bool on, float[4, 4] u) => (bool go, float[4, 4] v) {
        go = Identity (on) [mm] v = MatMul (u, w) }> })"));
  const auto artifact = openArtifact(path, {}, PlanOptions{.precisions = {DataType::BF16}});
  ASSERT_TRUE(artifact.ok()) << artifact.error().text();
  const auto found = fixes(artifact.value().plan, "y", Harm::Inexact);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(patterns(found.front()), std::vector<std::string>{"loop/mm"});
  EXPECT_NE(found.front().effect.find("loop/mm calculates in f32"), std::string::npos) << found.front().effect;
}

TEST(WideFixes, OfAPlanInFloat32ThereIsNone) {
  const auto plan = planned("fp16_overflow", DataType::F32);
  EXPECT_TRUE(fixes(plan, "relu_1", Harm::NotFinite).empty());
  EXPECT_TRUE(fixes(plan, "relu_1", Harm::Inexact).empty());
}

/// Whatever value it is about: what is offered changes how that is calculated, and names nodes that there are.
TEST(WideFixes, EachChangesWhatItIsAbout) {
  int offered = 0;
  for (const DataType type : {DataType::F16, DataType::BF16}) {
    const auto plan = planned("bert_tiny", type);
    const std::vector<Hash128> before = valueHashes(*plan);
    for (std::size_t i = 0; i < plan->fusedNodes.size(); i += 5) {  // planning takes its time
      const FusedNode& fused = plan->fusedNodes[i];
      for (const FusedOutput& output : fused.outputs) {
        const std::string& name = plan->graph().value(output.value).name;
        for (const Harm harm : {Harm::NotFinite, Harm::Inexact}) {
          for (const WideFix& fix : fixes(plan, name, harm)) {
            ++offered;
            EXPECT_FALSE(fix.pins.empty()) << name;
            EXPECT_FALSE(fix.effect.empty()) << name;
            EXPECT_NE(valueHashes(*fix.plan)[output.value.index], before[output.value.index]) << name;
          }
        }
      }
    }
  }
  EXPECT_GT(offered, 20);
}

}  // namespace
}  // namespace fusescope::test
