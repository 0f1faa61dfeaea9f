#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ir/graph.h"
#include "planning/types/without_lowered_types.h"
#include "session/advice.h"
#include "session/documents/layer_error_report.h"
#include "session/inputs/random_inputs.h"
#include "session/open_artifact.h"
#include "session/runs/run_errors.h"
#include "tests/support/paths.h"
#include "tests/unit/frontends/onnx_files.h"

namespace fusescope::test {
namespace {

std::shared_ptr<const Plan> planned(const std::string& graph, const PlanOptions& options) {
  const TemporaryFolder folder;
  auto artifact = openArtifact(folder.write("model.onnx", onnxBytes(graph)), {}, options);
  EXPECT_TRUE(artifact.ok()) << artifact.error().text();
  return artifact.ok() ? artifact.value().plan : nullptr;
}

PlanOptions lowered(DataType type) {
  return {.target = "cpu", .precisions = {type}};
}

Samples filled(const Plan& plan, std::vector<float> scales) {
  Samples samples;
  for (const float scale : scales) {
    Sample sample{.name = "s", .inputs = randomInputs(plan)};
    for (auto& [name, tensor] : sample.inputs) {
      Tensor scaled = Tensor::zeros(DataType::F32, tensor.dims());
      for (std::int64_t i = 0; i < tensor.count(); ++i)
        scaled.mutableData<float>()[static_cast<std::size_t>(i)] =
            scale * static_cast<float>(std::fabs(tensor.asDouble(i)));
      tensor = scaled;
    }
    samples.list.push_back(std::move(sample));
  }
  return samples;
}

const TensorErrors* find(const LayerErrorReport& report, const std::string& tensor) {
  const auto found = std::ranges::find(report.tensors, tensor, &TensorErrors::name);
  return found == report.tensors.end() ? nullptr : &*found;
}

TEST(LayerErrors, TellTheCulpritFromItsVictims) {
  const std::string graph = "g (float[1, 8] x) => (float[1, 8] y) <float[8, 8] w = {" + [] {
    std::string values;
    for (int i = 0; i < 64; ++i) values += std::string(i > 0 ? ", " : "") + (i % 9 == 0 ? "300" : "0");
    return values;
  }() + "}> { [big] q = MatMul (x, w) [half] s = Softmax (q) [scaled] m = MatMul (q, w) [back] y = Softmax (m) }";
  const auto plan = planned(graph, lowered(DataType::F16));
  ASSERT_NE(plan, nullptr);
  for (const char* backend : {"reference", "native"}) {
    const auto report = layerErrors(plan, filled(*plan, {1, 2}), {.backend = backend});
    ASSERT_TRUE(report.ok()) << report.error().text();
    const TensorErrors* m = find(report.value(), "m");
    const TensorErrors* y = find(report.value(), "y");
    ASSERT_TRUE(m != nullptr && y != nullptr);
    EXPECT_GT(m->errors.local->nonFinite, 0) << "x · 300 · 300 is beyond 65504";
    EXPECT_EQ(m->stored, DataType::F16);
    EXPECT_TRUE(y->isOutput);
    EXPECT_GT(y->errors.carried->nonFinite, 0);
    ASSERT_TRUE(report.value().firstWrong.has_value());
    EXPECT_EQ(report.value().firstWrong->tensor, "m") << backend;
    EXPECT_TRUE(report.value().firstWrong->isLocal);
    const TensorErrors* q = find(report.value(), "q");
    ASSERT_NE(q, nullptr);
    EXPECT_LT(q->errors.local->maxOverRms, 1e-3);
    EXPECT_EQ(q->errors.local->maxAbs, q->errors.carried->maxAbs) << "nothing before it is lowered";
    EXPECT_EQ(q->errors.local->elements, 16) << "of both samples";
  }
}

TEST(LayerErrors, AVictimHasACarriedErrorAlone) {
  const auto plan = planned(
      "g (float[2, 16] x) => (float[2, 16] y) { [soft] s = Softmax (x) [turn] t = Transpose <perm = [1, 0]> (s) "
      "[other] "
      "u = Softmax <axis = 0> (t) y = Transpose <perm = [1, 0]> (u) }",
      lowered(DataType::BF16));
  ASSERT_NE(plan, nullptr);
  const auto report = layerErrors(plan, filled(*plan, {1}), {.backend = "reference"});
  ASSERT_TRUE(report.ok()) << report.error().text();
  const TensorErrors* t = find(report.value(), "t");
  const TensorErrors* s = find(report.value(), "s");
  ASSERT_TRUE(t != nullptr && s != nullptr);
  EXPECT_EQ(t->errors.carried->maxAbs, s->errors.carried->maxAbs) << "a transpose adds nothing to what it is given";
  EXPECT_GT(s->errors.local->maxAbs, 0);
  EXPECT_EQ(report.value().nodes.size(), plan->fusedNodes.size());
}

TEST(LayerErrors, WithoutLoweredTypesThereAreNone) {
  const auto plan = planned("g (float[2, 3] x) => (float[2, 3] y) { s = Softmax (x) y = Relu (s) }", {.target = "cpu"});
  ASSERT_NE(plan, nullptr);
  const auto report = layerErrors(plan, filled(*plan, {1}), {});
  ASSERT_TRUE(report.ok()) << report.error().text();
  EXPECT_FALSE(report.value().firstWrong.has_value());
  for (const TensorErrors& tensor : report.value().tensors) EXPECT_EQ(tensor.errors.carried->maxAbs, 0) << tensor.name;
}

TEST(LayerErrors, KernelsOfTheExactPlanEndWhereThoseOfTheLoweredOneEnd) {
  // A pin takes the kernel apart: what stands between is in memory in both.
  PlanOptions options = lowered(DataType::BF16);
  options.directives.push_back(parsePin("relu=f32").value());
  options.directives.push_back(splitDirective("add"));
  assignIds(options.directives);
  const auto plan = planned(
      "g (float[2, 8] x, float[8] b) => (float[2, 8] y) { [add] a = Add (x, b) [relu] r = Relu (a) [mul] y = Mul (r, "
      "b) }",
      options);
  ASSERT_NE(plan, nullptr);
  const auto exact = exactPlanFor(*plan, withoutLoweredTypes({.target = "cpu"}), {});
  ASSERT_TRUE(exact.ok());
  const auto report = layerErrors(plan, filled(*plan, {1}), {});
  ASSERT_TRUE(report.ok()) << report.error().text();
  EXPECT_TRUE(report.value().notMeasured.empty());
  for (const TensorErrors& tensor : report.value().tensors)
    EXPECT_TRUE(tensor.errors.local && tensor.errors.carried) << tensor.name;
  EXPECT_NE(find(report.value(), "a"), nullptr);
}

TEST(LayerErrors, AgainstDoublePrecisionFloat32HasErrorsToo) {
  // x + 1e8 keeps no fraction in float32, so that nothing of x is left; in float64 all of it is.
  const auto plan = planned(
      "g (float[1, 8] x) => (float[1, 8] y) <float large = {1e8}> { [more] a = Add (x, large) [soft] s = Softmax (a) "
      "[less] b = Sub (a, large) [sum] y = Add (b, s) }",
      {.target = "cpu"});
  ASSERT_NE(plan, nullptr);
  const Samples samples = filled(*plan, {0.25F, 1});
  for (const char* backend : {"reference", "native"}) {
    const auto none = layerErrors(plan, samples, {.backend = backend});
    ASSERT_TRUE(none.ok());
    EXPECT_EQ(find(none.value(), "y")->errors.carried->maxAbs, 0) << "float32 against itself";
    const auto report = layerErrors(plan, samples, {.backend = backend}, ErrorsAgainst::F64);
    ASSERT_TRUE(report.ok()) << report.error().text();
    EXPECT_GT(find(report.value(), "y")->errors.carried->relL2, 0.1);
    EXPECT_TRUE(report.value().notInDouble.empty());
    EXPECT_EQ(toJson(report.value(), *plan, samples, {}, ErrorsAgainst::F64)["against"], "f64");
  }
}

TEST(LayerErrors, AgainstDoublePrecisionErrorsOfLoweredTypesAreThoseAgainstFloat32AndALittle) {
  auto artifact = openArtifact(sampleFolder("bert_tiny") / "model.onnx", {}, lowered(DataType::F16));
  ASSERT_TRUE(artifact.ok());
  const auto& plan = artifact.value().plan;
  const Samples samples{.list = {{"random", randomInputs(*plan)}}, .random = true};
  const auto single = layerErrors(plan, samples, {}), twice = layerErrors(plan, samples, {}, ErrorsAgainst::F64);
  ASSERT_TRUE(single.ok() && twice.ok()) << twice.error().text();
  ASSERT_EQ(single.value().tensors.size(), twice.value().tensors.size());
  for (std::size_t i = 0; i < single.value().tensors.size(); ++i) {
    const auto &a = single.value().tensors[i], &b = twice.value().tensors[i];
    if (!a.errors.carried || a.errors.carried->nonFinite > 0) continue;
    EXPECT_NEAR(a.errors.carried->relL2, b.errors.carried->relL2, 0.05 * a.errors.carried->relL2 + 1e-6) << a.name;
  }
}

TEST(LayerErrors, OperatorsWithoutADoubleKernelAreNamed) {
  const auto plan = planned(
      "g (float[2, 8] x) => (float[2, 8] y) { [codes] c, scale, zero = DynamicQuantizeLinear (x) [back] d = "
      "DequantizeLinear (c, scale, zero) [soft] y = Softmax (d) }",
      {.target = "cpu"});
  ASSERT_NE(plan, nullptr);
  const auto report = layerErrors(plan, filled(*plan, {1}), {}, ErrorsAgainst::F64);
  ASSERT_TRUE(report.ok()) << report.error().text();
  ASSERT_FALSE(report.value().notInDouble.empty());
  EXPECT_EQ(report.value().notInDouble.back().op, "DynamicQuantizeLinear");
  EXPECT_EQ(report.value().notInDouble.back().nodes, 1);
  EXPECT_LT(find(report.value(), "y")->errors.carried->relL2, 1e-5);
}

TEST(LayerErrors, TheDocumentSaysWhatItIsOf) {
  const auto plan = planned("g (float[2, 3] x) => (float[2, 3] y) { y = Softmax (x) }", lowered(DataType::F16));
  ASSERT_NE(plan, nullptr);
  const Samples samples{.list = {{"random", randomInputs(*plan)}}, .random = true};
  const auto report = layerErrors(plan, samples, {});
  ASSERT_TRUE(report.ok());
  const Json json = toJson(report.value(), *plan, samples, {});
  EXPECT_EQ(json["format"], "fusescope.errors");
  EXPECT_EQ(json["random_inputs"], true);
  EXPECT_EQ(json["tensors"][0]["name"], "y");
  EXPECT_EQ(json["outputs"].size(), 1U);
  for (const char* key : {"max_abs", "rel_l2", "cosine", "ulp", "non_finite", "saturated", "underflowed"})
    EXPECT_TRUE(json["tensors"][0]["local"].contains(key) && json["tensors"][0]["carried"].contains(key)) << key;
  // What is kept of it says which kernel and types it is of.
  const auto kept = runErrorsFromJson(json);
  ASSERT_TRUE(kept.ok()) << kept.error().text();
  ASSERT_EQ(kept.value().nodes.size(), 1U);
  EXPECT_EQ(kept.value().nodes[0].identity, plan->fusedNodes[0].identity.hex());
  EXPECT_EQ(kept.value().nodes[0].types, layerTypes(*plan, plan->fusedNodes[0]));
  EXPECT_EQ(kept.value().nodes[0].errors.local, report.value().nodes[0].errors.local);
  EXPECT_TRUE(kept.value().tensors == report.value().tensors);
  EXPECT_EQ(kept.value().samples, 1);
}

/// An output that is infinite in float32, too, has no error that could be told of what was tried.
TEST(LayerErrors, AdviceTellsNothingOfOutputsThatCannotBeTold) {
  const auto plan = planned(
      "g (float[2, 2] x) => (float[2, 2] z) <float big = {1e5}, float[2, 2] huge = {1e38, 1e38, 1e38, 1e38}> {"
      "  [widen] v = Mul (x, big) [product] z = MatMul (v, huge) }",
      lowered(DataType::F16));
  ASSERT_NE(plan, nullptr);
  const auto advice = adviceAbout("v", Harm::NotFinite, plan, filled(*plan, {1}), {}, ErrorsAgainst::F32);
  ASSERT_TRUE(advice.ok()) << advice.error().text();
  ASSERT_FALSE(advice.value().pins.empty());
  EXPECT_EQ(advice.value().tried, "v is right");
}

}  // namespace
}  // namespace fusescope::test
