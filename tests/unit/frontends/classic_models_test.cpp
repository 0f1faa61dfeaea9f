// Operators of ai.onnx.ml against what ONNX Runtime calculates: classic_models.json, which classic_models.py wrote.
#include "passes/pipelines.h"
#include "tests/unit/frontends/runtime_cases.h"

namespace fusescope::test {
namespace {

constexpr std::size_t kCases = 100;

TEST(ClassicModels, CalculateWhatOnnxRuntimeDoes) {
  const Json cases = runtimeCases("classic_models.json");
  EXPECT_EQ(cases.size(), kCases);
  for (const Json& item : cases)
    for (const Json& text : item.at("models")) {
      const std::string what = item.at("name");
      auto imported = importedCase(text);
      ASSERT_TRUE(imported.ok()) << what << ": " << imported.error().text();
      const auto model = prepareModel(std::move(imported).value());
      ASSERT_TRUE(model.ok()) << what << ": " << model.error().text();
      expectCaseRuns(item, model.value(), what);
    }
}

std::string refusal(const std::string& graph) {
  auto imported = importBytes(onnxBytes(graph, 18, ", \"ai.onnx.ml\" : 3"));
  if (!imported.ok()) return imported.error().text();
  const auto model = prepareModel(std::move(imported).value());
  return model.ok() ? "nothing" : model.error().text();
}

void expectRefused(const std::string& graph, const std::string& because) {
  const std::string said = refusal(graph);
  EXPECT_NE(said.find(because), std::string::npos) << said << " instead of " << because;
}

TEST(ClassicModels, WhatHasNoMeaningIsRefusedAtItsAttribute) {
  const std::string tree =
      "g (float[n,2] x) => (y) { [forest] y = ai.onnx.ml.TreeEnsembleRegressor <n_targets=1, nodes_treeids=[0,0,0], "
      "nodes_nodeids=[0,1,2], nodes_featureids=[FEATURE,0,0], nodes_modes=[\"BRANCH_LEQ\",\"LEAF\",\"LEAF\"], "
      "nodes_values=[0.5,0.0,0.0], nodes_truenodeids=[YES,0,0], nodes_falsenodeids=[2,0,0], target_treeids=[0,0], "
      "target_nodeids=[1,2], target_ids=[0,TARGET], target_weights=[1.0,2.0]> (x) }";
  const auto with = [&](std::string feature, std::string yes, std::string target) {
    std::string text = tree;
    for (const auto& [key, value] : {std::pair("FEATURE", feature), std::pair("YES", yes), std::pair("TARGET", target)})
      text.replace(text.find(key), std::string(key).size(), value);
    return text;
  };
  EXPECT_EQ(refusal(with("1", "1", "0")), "nothing");
  expectRefused(with("2", "1", "0"), "node 'forest': rows have 2 features, but the trees ask for 3");
  expectRefused(with("1", "7", "0"), "node 'forest': tree 0 has no node 7");
  expectRefused(with("1", "0", "0"), "a tree contains a cycle");
  expectRefused(with("1", "1", "4"), "a leaf adds to target 4, but the node has 1 targets");
  expectRefused("g (float[n,3] x) => (y) { [l] y = ai.onnx.ml.LinearRegressor <coefficients=[1.0,2.0]> (x) }",
                "node 'l': the rows of the input have 3 features, but the coefficients are for 2");
  expectRefused(
      "g (float[n,2] x) => (y, z) { y, z = ai.onnx.ml.LinearClassifier <coefficients=[1.0,2.0], "
      "intercepts=[0.0], classlabels_ints=[0,1,2]> (x) }",
      "the model computes 1 scores, but it has 3 classes");
  expectRefused("g (float[n,2] x) => (y) { y = ai.onnx.ml.Scaler <scale=[1.0,2.0]> (x) }", "attribute 'offset'");
  expectRefused(
      "g (float[n,2] x) => (y) { y = ai.onnx.ml.SVMRegressor <kernel_type=\"RBF\", n_supports=1, "
      "support_vectors=[1.0,2.0], coefficients=[1.0], rho=[0.0]> (x) }",
      "attribute 'kernel_params': has 0 entries, expected 3");
  expectRefused("g (string[n,2] x) => (y) { y = ai.onnx.ml.OneHotEncoder <cats_int64s=[1,2]> (x) }",
                "the categories are integers, but the input is string");
}

TEST(ClassicModels, MapsAreGivenAsTheTableTheyAreMadeOf) {
  auto imported =
      importBytes(onnxBytes("g (float[n,2] x) => (y) { s = Relu (x) [maps] y = ai.onnx.ml.ZipMap "
                            "<classlabels_strings=[\"cat\",\"dog\"]> (s) }",
                            18, ", \"ai.onnx.ml\" : 3"));
  ASSERT_TRUE(imported.ok()) << imported.error().text();
  const auto model = prepareModel(std::move(imported).value());
  ASSERT_TRUE(model.ok()) << model.error().text();
  EXPECT_EQ(countCode(model.value(), "import.maps_as_table"), 1U);
  const auto decision = std::ranges::find(model.value().decisions, "import.maps_as_table", &Decision::code);
  EXPECT_NE(message(*decision).find("y is read as a table of the scores"), std::string::npos) << message(*decision);
  EXPECT_NE(message(*decision).find("classes cat, dog"), std::string::npos) << message(*decision);
  const auto results = runGraph(*model.value().graph, {f32({2, 2}, {1, -1, 2, 3})});
  EXPECT_EQ(results.at(0).dims(), (Dims{2, 2}));
}

}  // namespace
}  // namespace fusescope::test
