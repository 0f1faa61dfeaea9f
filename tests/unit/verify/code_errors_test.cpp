// Errors of edges that stand as codes: of what their codes stand for, against the network before it was quantised.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "ir/graph.h"
#include "session/artifact.h"
#include "session/calibrate.h"
#include "session/documents/layer_error_report.h"
#include "session/inputs/load_samples.h"
#include "session/inputs/random_inputs.h"
#include "session/open_model.h"
#include "tests/support/paths.h"
#include "tests/unit/frontends/onnx_files.h"

namespace fusescope::test {
namespace {

std::shared_ptr<const Model> modelOf(const std::string& graph) {
  const TemporaryFolder folder;
  const auto model = openModel(folder.write("model.onnx", onnxBytes(graph)));
  EXPECT_TRUE(model.ok()) << model.error().text();
  return model.ok() ? model.value() : nullptr;
}

std::shared_ptr<const Plan> planOf(const std::shared_ptr<const Model>& model, const PlanOptions& options) {
  const auto plan = makePlan(model, options);
  EXPECT_TRUE(plan.ok()) << plan.error().text();
  return plan.ok() ? plan.value() : nullptr;
}

Samples samplesOf(const Plan& plan, int count) {
  Samples samples;
  for (int i = 0; i < count; ++i) samples.list.push_back({.name = "s", .inputs = randomInputs(plan)});
  return samples;
}

LayerErrorReport errorsOf(const std::shared_ptr<const Plan>& plan, const Samples& samples,
                          const std::string& backend = "reference", ErrorsAgainst against = ErrorsAgainst::F32) {
  auto report = layerErrors(plan, samples, {.backend = backend}, against);
  EXPECT_TRUE(report.ok()) << report.error().text();
  return report.ok() ? std::move(report).value() : LayerErrorReport();
}

const TensorErrors& tensor(const LayerErrorReport& report, const std::string& name) {
  static const TensorErrors none;
  const auto found = std::ranges::find(report.tensors, name, &TensorErrors::name);
  EXPECT_NE(found, report.tensors.end()) << name;
  return found == report.tensors.end() ? none : *found;
}

/// Of digits, quantised by ranges of its own samples.
class DigitsInCodes : public ::testing::Test {
 protected:
  void quantise(const CalibrateOptions& calibration) {
    const auto folder = sampleFolder("digits");
    model = openModel(folder / "model.onnx", {{.name = "image", .fixed = Dims{1, 1, 8, 8}}}).value();
    const auto floats = planOf(model, {.target = "cpu"});
    samples = loadSamples(*floats, {.paths = {(folder / "io.npz").string()}, .batchAxis = 0}).value();
    const auto ranges = std::make_shared<const Ranges>(calibrate(*floats, samples, calibration).value());
    PlanOptions options{.target = "cpu", .precisions = {DataType::I8}};
    options.ranges = ranges;
    plan = planOf(model, options);
  }

  std::shared_ptr<const Model> model;
  std::shared_ptr<const Plan> plan;
  Samples samples;
};

TEST_F(DigitsInCodes, EveryTensorIsMeasuredLocallyAndCarried) {
  for (const double smoothing : {0.0, 0.5}) {
    quantise({.settings = {.smoothing = smoothing}});
    for (const char* backend : {"reference", "native"}) {
      const LayerErrorReport report = errorsOf(plan, samples, backend);
      EXPECT_TRUE(report.notMeasured.empty())
          << backend << ": " << report.notMeasured.front().name << " " << report.notMeasured.front().why;
      int codes = 0;
      for (const TensorErrors& each : report.tensors) {
        ASSERT_TRUE(each.errors.local && each.errors.carried) << each.name;
        if (isFloat(each.stored)) continue;
        ++codes;
        EXPECT_GT(each.errors.local->relL2, 0) << each.name;
        EXPECT_LT(each.errors.local->relL2, 0.05) << each.name << " " << smoothing;
        EXPECT_LT(each.errors.carried->relL2, 0.2) << each.name;
        EXPECT_LT(each.errors.local->saturated, 0.01) << each.name;
      }
      EXPECT_GE(codes, 5) << "edges between convolutions";
      EXPECT_TRUE(errorsOf(plan, samples, backend, ErrorsAgainst::F64).notMeasured.empty()) << backend;
    }
  }
}

TEST(CodeErrors, ARangeThatIsTooSmallIsTheCulprit) {
  const auto model =
      modelOf("g (float[1, 64] x) => (float[1, 64] y) <float[64, 64] v = {" +
              [] {
                std::string values;
                for (int i = 0; i < 4096; ++i) values += std::string(i > 0 ? ", " : "") + (i % 65 == 0 ? "1" : "0");
                return values;
              }() +
              "}> { [first] a = MatMul (x, v) [relu] b = Relu (a) [second] c = MatMul (b, v) [third] d = MatMul (c, v) "
              "[soft] y = Softmax (d) }");
  const auto floats = planOf(model, {.target = "cpu"});
  const Samples samples = samplesOf(*floats, 3);
  auto ranges = std::make_shared<Ranges>(
      calibrate(*floats, samples, {.settings = {.choice = {.method = RangeMethod::MinMax}}}).value());
  ranges->edges.at("b").range.high /= 4;
  PlanOptions options{.target = "cpu", .precisions = {DataType::I8}};
  options.ranges = ranges;
  const auto plan = planOf(model, options);
  for (const char* backend : {"reference", "native"}) {
    const LayerErrorReport report = errorsOf(plan, samples, backend);
    const TensorErrors &clamped = tensor(report, "b/codes"), &behind = tensor(report, "c/codes");
    EXPECT_GT(clamped.errors.local->saturated, 0.1) << "a quarter of the range";
    EXPECT_NEAR(clamped.errors.local->saturated, clamped.errors.carried->saturated, 0.02);
    EXPECT_GT(clamped.errors.local->maxOverRms, 0.5);
    ASSERT_TRUE(report.firstWrong.has_value());
    EXPECT_EQ(report.firstWrong->tensor, "b/codes") << backend;
    EXPECT_TRUE(report.firstWrong->isLocal);
    // Its reader is given what its codes can hold, and its error is of these.
    EXPECT_GT(behind.errors.carried->maxOverRms, 0.5);
    EXPECT_EQ(behind.errors.local->saturated, 0);
  }
}

TEST(CodeErrors, CodesOfTheNetworksAuthorAreComparedWithTheNumbersThatTheyStandFor) {
  // Codes are moved between Q and DQ, too; 6 is beyond the last code, 127 · 0.03.
  const auto model = modelOf(
      "g (float[1, 4] x) => (float[4] y) <float s = {0.03}, int8 z = {0}, int64[1] flat = {-1}> { [q] c = "
      "QuantizeLinear (x, s, z) [move] m = Reshape (c, flat) [dq] d = DequantizeLinear (m, s, z) [out] y = Softmax "
      "(d) }");
  const auto plan = planOf(model, {.target = "cpu"});
  Samples samples;
  const std::array<float, 4> numbers{0.01F, 1, -2, 6};
  samples.list.push_back({.name = "s", .inputs = {{"x", Tensor::copyOf<float>(DataType::F32, {1, 4}, numbers)}}});
  for (const ErrorsAgainst against : {ErrorsAgainst::F32, ErrorsAgainst::F64}) {
    const LayerErrorReport report = errorsOf(plan, samples, "reference", against);
    EXPECT_TRUE(report.notMeasured.empty());
    bool any = false;
    for (const TensorErrors& each : report.tensors) {
      if (each.stored != DataType::I8) continue;
      any = true;
      EXPECT_NEAR(each.errors.local->maxAbs, 6 - 3.81, 1e-6) << each.name;
      EXPECT_EQ(each.errors.local->saturated, 0.25);
      EXPECT_EQ(each.errors.local->underflowed, 0.25) << "0.01 is less than half a step";
      EXPECT_NEAR(each.errors.local->ulp, (6 - 3.81) / 0.03, 1e-3) << "steps";
    }
    EXPECT_GT(tensor(report, "y").errors.carried->maxAbs, 0.05);
    EXPECT_TRUE(any) << "codes stand in memory";
  }
}

TEST(CodeErrors, AScaleForEachChannelIsTheOneOfItsChannel) {
  const auto model = modelOf(
      "g (float[2, 3] x) => (float[2, 3] y) <float[2] s = {1, 0.25}, uint8[2] z = {0, 128}> { [q] c = QuantizeLinear "
      "<axis = 0> (x, s, z) [dq] d = DequantizeLinear <axis = 0> (c, s, z) [out] y = Softmax (d) }");
  const auto plan = planOf(model, {.target = "cpu", .directives = {splitDirective("q")}});
  Samples samples;
  const std::array<float, 6> numbers{300, 1, 0, 40, 1, -40};
  samples.list.push_back({.name = "s", .inputs = {{"x", Tensor::copyOf<float>(DataType::F32, {2, 3}, numbers)}}});
  const LayerErrorReport report = errorsOf(plan, samples);
  const TensorErrors& codes = tensor(report, "c");
  ASSERT_TRUE(codes.errors.local.has_value());
  EXPECT_EQ(codes.errors.local->maxAbs, 45);
  EXPECT_EQ(codes.errors.local->saturated, 0.5) << "300 of 255, 40 of 31.75, -40 of -32";
}

TEST(CodeErrors, WhatIsCalculatedOfCodesStaysCodes) {
  const auto model = modelOf(
      "g (float[1, 4] x) => (int32[1, 2] y) <float s = {0.1}, uint8 z = {0}, uint8[4, 2] w = {1, 2, 3, 4, 5, 6, 7, "
      "8}> { [q] c = QuantizeLinear (x, s, z) [sum] y = MatMulInteger (c, w) }");
  const auto plan = planOf(model, {.target = "cpu"});
  const LayerErrorReport report = errorsOf(plan, samplesOf(*plan, 2));
  EXPECT_EQ(tensor(report, "y").errors.carried->maxAbs, 0) << "no numbers stand for what is summed";
}

}  // namespace
}  // namespace fusescope::test
