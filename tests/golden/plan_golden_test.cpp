#include <gtest/gtest.h>

#include <cstdlib>

#include "base/files.h"
#include "frontends/importers.h"
#include "passes/pipelines.h"
#include "planning/plan_json.h"

namespace fusescope {
namespace {

/// One golden plan: tests/golden/plans/NAME.txt.
struct GoldenPlan {
  std::string name;
  std::string sample;
  PlanOptions options;
};

PlanOptions options(std::string target, std::vector<DataType> precisions = {}, std::vector<std::string> pins = {},
                    Directives directives = {}) {
  for (const std::string& pin : pins) directives.push_back(parsePin(pin).value());
  return {.target = std::move(target), .precisions = std::move(precisions), .directives = std::move(directives)};
}

std::vector<GoldenPlan> goldenPlans() {
  const std::string cpu = "cpu:avx2";
  return {
      {"bert_tiny", "bert_tiny", options(cpu)},
      {"bert_tiny_softmax_f32", "bert_tiny", options(cpu, {DataType::F16}, {"op:Softmax=f32"})},
      {"squeezenet1_1", "squeezenet1_1", options(cpu)},
      {"tiny_resnet", "tiny_resnet_dynbatch", options(cpu)},
      {"tiny_resnet_no_residual", "tiny_resnet_dynbatch", options(cpu, {}, {}, {parseNoFuse("residual").value()})},
      {"moe_dense", "moe_dense", options(cpu)},
      {"fp16_overflow", "fp16_overflow", options(cpu, {DataType::F16})},
      {"fp16_overflow_pinned", "fp16_overflow",
       options(cpu, {DataType::F16}, {"node_linear_1=f32", "node_relu_1=f32", "node_layer_norm=f32"})},
      {"long_double_cpu", "long_double", options(cpu)},
      {"long_double_trt8", "long_double", options("tensorrt-8")},
      {"long_double_trt8_none", "long_double", options("tensorrt-8", {}, {}, {parseTruncate("none").value()})},
      {"long_double_trt8_all", "long_double", options("tensorrt-8", {}, {}, {parseTruncate("all").value()})},
  };
}

std::shared_ptr<const Model> sample(const std::string& name) {
  const std::string path = std::string(FUSESCOPE_SOURCE_DIR) + "/resources/samples/" + name + "/model.onnx";
  auto imported = importModel(path);
  EXPECT_TRUE(imported.ok()) << (imported.ok() ? "" : imported.error().text());
  auto prepared = prepareModel(std::move(imported).value());
  EXPECT_TRUE(prepared.ok()) << (prepared.ok() ? "" : prepared.error().text());
  return std::make_shared<const Model>(std::move(prepared).value());
}

class PlanGolden : public ::testing::TestWithParam<GoldenPlan> {};

TEST_P(PlanGolden, IsAsWritten) {
  const GoldenPlan& golden = GetParam();
  const auto plan = makePlan(sample(golden.sample), golden.options);
  ASSERT_TRUE(plan.ok()) << plan.error().text();
  const Status verified = verifyPlan(*plan.value());
  ASSERT_TRUE(verified.ok()) << verified.error().text();
  const std::string path = std::string(FUSESCOPE_SOURCE_DIR) + "/tests/golden/plans/" + golden.name + ".txt";
  const std::string text = printPlan(*plan.value());
  if (std::getenv("UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(writeFileAtomically(path, std::string_view(text)).ok());
    GTEST_SKIP() << "written";
  }
  const auto expected = readTextFile(path);
  ASSERT_TRUE(expected.ok()) << expected.error().text();
  EXPECT_EQ(text, expected.value());
}

INSTANTIATE_TEST_SUITE_P(Samples, PlanGolden, ::testing::ValuesIn(goldenPlans()),
                         [](const auto& info) { return info.param.name; });

TEST(BertTiny, HasAtMostFortyPercentAsManyFusedNodesAsTheFileHasNodes) {
  const auto model = sample("bert_tiny");
  const auto plan = makePlan(model, options("cpu:avx2"));
  ASSERT_TRUE(plan.ok());
  EXPECT_LE(plan.value()->fusedNodes.size() * 10, model->origins.size() * 4);
}

}  // namespace
}  // namespace fusescope
