#include <gtest/gtest.h>

#include <cmath>

#include "passes/pipelines.h"
#include "tests/unit/frontends/onnx_files.h"
#include "tests/unit/frontends/run_graph.h"

namespace fusescope::test {
namespace {

using Numbers = std::vector<double>;

Numbers outputOf(const Result<Model>& model, const std::vector<Tensor>& inputs) {
  EXPECT_TRUE(model.ok()) << model.error().text();
  if (!model.ok()) return {};
  const auto outputs = runGraph(*model.value().graph, inputs);
  EXPECT_EQ(outputs.size(), 1U);
  return outputs.empty() ? Numbers() : numbersOf(outputs[0]);
}

TEST(Functions, CallEachOther) {
  const auto model = importText(
      "g (float[2] x) => (float[2] y) { [call] y = local.outer (x) }\n"
      "<domain: \"local\", opset_import: [\"\" : 18, \"local\" : 1]>\n"
      "outer (a) => (b) { c = local.inner <k=2.0> (a) b = local.inner <k=5.0> (c) }\n"
      "<domain: \"local\", opset_import: [\"\" : 18]>\n"
      "inner <k> (a) => (b) { c = Constant <value_float: float = @k> () b = Mul (a, c) }",
      18, ", \"local\" : 1");
  EXPECT_EQ(outputOf(model, {f32({2}, {1, 2})}), (Numbers{10, 20}));
  for (const NodeId id : model.value().graph->order())
    EXPECT_TRUE(model.value().graph->node(id).name.starts_with("call/")) << model.value().graph->node(id).name;
}

TEST(Functions, OfOneNameInTwoDomainsAreTwo) {
  const auto model = importText(
      "g (float[1] x) => (float[1] y) { a = first.f (x) y = second.f (a) }\n"
      "<domain: \"first\", opset_import: [\"\" : 18]> f (a) => (b) { b = Add (a, a) }\n"
      "<domain: \"second\", opset_import: [\"\" : 18]> f (a) => (b) { b = Neg (a) }",
      18, ", \"first\" : 1, \"second\" : 1");
  EXPECT_EQ(outputOf(model, {f32({1}, {3})}), (Numbers{-6}));
}

TEST(Functions, OverloadsAreChosenByTheirName) {
  const auto model = importText(
      "g (float[1] x) => (float[1] y) { a = local.f:doubled (x) y = local.f:negated (a) }\n"
      "<domain: \"local\", overload: \"doubled\", opset_import: [\"\" : 18]> f (a) => (b) { b = Add (a, a) }\n"
      "<domain: \"local\", overload: \"negated\", opset_import: [\"\" : 18]> f (a) => (b) { b = Neg (a) }",
      18, ", \"local\" : 1");
  EXPECT_EQ(outputOf(model, {f32({1}, {3})}), (Numbers{-6}));
}

TEST(Functions, AttributesHaveDefaultsAlsoInsideBodies) {
  const std::string function =
      "<domain: \"local\", opset_import: [\"\" : 18]>\n"
      "f <axis: int = 1> (a) => (b) { b = Softmax <axis: int = @axis> (a) }";
  const auto call = [&](const std::string& attributes) {
    return outputOf(importText("g (float[1,2] x) => (float[1,2] y) { y = local.f " + attributes + " (x) }\n" + function,
                               18, ", \"local\" : 1"),
                    {f32({1, 2}, {0, 0})});
  };
  EXPECT_EQ(call(""), (Numbers{0.5, 0.5}));
  EXPECT_EQ(call("<axis=0>"), (Numbers{1, 1}));
}

TEST(Functions, HandThroughWhatTheyAreGiven) {
  const auto model = importText(
      "g (float[1] x) => (float[1] y) { a, y = local.f (x, x) b = Neg (a) }\n"
      "<domain: \"local\", opset_import: [\"\" : 18]> f (p, q) => (p, r) { r = Add (p, q) }",
      18, ", \"local\" : 1");
  EXPECT_EQ(outputOf(model, {f32({1}, {4})}), (Numbers{8}));
}

/// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss have bodies that depend on types, and the second calls the
/// first: -ln(softmax([0, ln 3])[1]) = ln 4 - ln 3.
TEST(Functions, OfTheStandardMayStandInFunctions) {
  const auto model = importText(
      "g (float[1,2] x, int64[1] label) => (float y) { y = local.loss (x, label) }\n"
      "<domain: \"local\", opset_import: [\"\" : 13]> loss (s, l) => (r) {"
      "  double = Add (s, s) half = Sub (double, s) r = SoftmaxCrossEntropyLoss (half, l) }",
      18, ", \"local\" : 1");
  const Numbers y = outputOf(model, {f32({1, 2}, {0, std::log(3.0F)}), Tensor::ofInt64({1})});
  ASSERT_EQ(y.size(), 1U);
  EXPECT_NEAR(y[0], std::log(4.0 / 3.0), 1e-6);
}

TEST(Functions, OfOtherOpsetsThanTheOldestAreRefusedAtTheirNode) {
  const auto model = importText(
      "g (float[1,4] x) => (float[1,4] y) { [call] y = local.f (x) }\n"
      "<domain: \"local\", opset_import: [\"\" : 5]> f (a) => (b) { b = Relu (a) }",
      18, ", \"local\" : 1");
  ASSERT_FALSE(model.ok());
  EXPECT_NE(model.error().text().find("call"), std::string::npos) << model.error().text();
  EXPECT_NE(model.error().text().find("opset 5"), std::string::npos);
}

}  // namespace
}  // namespace fusescope::test
