// Weights that do not fit into the type in which they are read: why a node goes wrong by itself.
#include <gtest/gtest.h>

#include "ir/graph.h"
#include "session/documents/layer_error_report.h"
#include "session/explain.h"
#include "session/inputs/random_inputs.h"
#include "session/open_artifact.h"
#include "tests/support/paths.h"
#include "tests/unit/frontends/onnx_files.h"

namespace fusescope::test {
namespace {

/// A norm whose variances are larger than float16 can hold, behind a product whose weights are no trouble.
std::shared_ptr<const Plan> largeVariances(DataType type) {
  const TemporaryFolder folder;
  const std::string graph =
      "g (float[1, 2] x) => (float[1, 2] y) <float[2, 2] w = {3000, -2000, 1000, 4000}, float[2] scale = {1, 1}, "
      "float[2] shift = {0.5, -0.5}, float[2] mean = {1, 2}, float[2] variance = {1e7, 98000000}> "
      "{ [product] p = MatMul (x, w) [norm] y = BatchNormalization (p, scale, shift, mean, variance) }";
  const auto artifact =
      openArtifact(folder.write("model.onnx", onnxBytes(graph)), {}, {.target = "cpu", .precisions = {type}});
  EXPECT_TRUE(artifact.ok()) << artifact.error().text();
  return artifact.ok() ? artifact.value().plan : nullptr;
}

std::vector<LostWeight> allLost(const Plan& plan) {
  std::vector<LostWeight> all;
  for (const FusedNode& fused : plan.fusedNodes)
    for (LostWeight& weight : lostWeights(plan, fused.nodes)) all.push_back(std::move(weight));
  return all;
}

TEST(LostWeights, AreThoseThatBecomeInfinite) {
  const auto plan = largeVariances(DataType::F16);
  ASSERT_NE(plan, nullptr);
  const auto lost = allLost(*plan);
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_EQ(lost[0].name, "variance");
  EXPECT_EQ(lost[0].infinite, 1);
  EXPECT_EQ(inWords(lost[0]), "weight variance becomes infinite in f16, because its largest number is 9.8e+07");
}

TEST(LostWeights, NoneAreLostWhereTheRangeIsFloats) {
  const auto plan = largeVariances(DataType::BF16);
  ASSERT_NE(plan, nullptr);
  EXPECT_TRUE(allLost(*plan).empty());
}

TEST(LostWeights, ThoseThatBecomeZeroAreToldByTheirShare) {
  const TemporaryFolder folder;
  const auto artifact = openArtifact(
      folder.write("model.onnx",
                   onnxBytes("g (float[1, 4] x) => (float[1, 4] y) <float[4] w = {1e-9, 1, 2, 0}> { y = Mul "
                             "(x, w) }")),
      {}, {.target = "cpu", .precisions = {DataType::F16}});
  ASSERT_TRUE(artifact.ok()) << artifact.error().text();
  const auto lost = allLost(*artifact.value().plan);
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_EQ(inWords(lost[0]), "25 % of the elements of weight w become 0 in f16") << "what is 0 already is not lost";
}

TEST(LostWeights, StandBesideTheErrorTheyCauseAndAreExplainedWithoutARun) {
  const auto plan = largeVariances(DataType::F16);
  ASSERT_NE(plan, nullptr);
  Samples samples;
  samples.list.push_back({.name = "s", .inputs = randomInputs(*plan)});
  const auto report = layerErrors(plan, samples, {});
  ASSERT_TRUE(report.ok()) << report.error().text();
  const auto& nodes = report.value().nodes;
  const auto wrong = std::ranges::find_if(nodes, [](const auto& node) { return !node.lostWeights.empty(); });
  ASSERT_NE(wrong, nodes.end());
  EXPECT_GT(wrong->errors.local->maxOverRms, 1e-2);
  const auto json = explainJson(*plan, "norm");
  ASSERT_TRUE(json.ok()) << json.error().text();
  EXPECT_EQ(json.value()["lost_weights"].dump(), toJson(wrong->lostWeights).dump());
  EXPECT_TRUE(explainJson(*plan, "product").value()["lost_weights"].empty());
}

}  // namespace
}  // namespace fusescope::test
