// Ranges as an option of plans: what is planned is the network that they make of the model.
#include <gtest/gtest.h>

#include <algorithm>

#include "calibration/ranges.h"
#include "diff/diff_plans.h"
#include "ir/graph.h"
#include "planning/plan.h"
#include "planning/plan_json.h"
#include "session/artifact.h"
#include "session/calibrate.h"
#include "session/inputs/load_samples.h"
#include "session/open_model.h"
#include "tests/support/paths.h"

namespace fusescope::test {
namespace {

std::filesystem::path digits() {
  return sampleFolder("digits") / "model.onnx";
}

std::shared_ptr<const Model> digitsModel() {
  const auto model = openModel(digits(), {{.name = "image", .fixed = Dims{1, 1, 8, 8}}});
  EXPECT_TRUE(model.ok()) << model.error().text();
  return model.value();
}

std::shared_ptr<const Plan> planned(const std::shared_ptr<const Model>& model, const PlanOptions& options,
                                    const Plan* previous = nullptr) {
  const auto plan = makePlan(model, options, nullptr, {}, previous);
  EXPECT_TRUE(plan.ok()) << plan.error().text();
  return plan.ok() ? plan.value() : nullptr;
}

std::shared_ptr<const Ranges> calibrated(const std::shared_ptr<const Model>& model, CalibrateOptions options = {}) {
  const auto plan = planned(model, {.target = "cpu"});
  const auto samples = loadSamples(*plan, {.paths = {sampleInputs("digits")}, .batchAxis = 0});
  EXPECT_TRUE(samples.ok()) << samples.error().text();
  auto ranges = calibrate(*plan, samples.value(), options);
  EXPECT_TRUE(ranges.ok()) << ranges.error().text();
  return std::make_shared<const Ranges>(std::move(ranges).value());
}

PlanOptions withRanges(std::shared_ptr<const Ranges> ranges, std::string target = "cpu") {
  PlanOptions options{.target = std::move(target), .precisions = {DataType::I8}};
  options.ranges = std::move(ranges);
  return options;
}

std::int64_t integerProducts(const Plan& plan) {
  return std::ranges::count_if(plan.fusedNodes, [](const FusedNode& fused) { return fused.compute == DataType::I8; });
}

TEST(QuantizedPlan, ProductsCalculateInIntegers) {
  const auto model = digitsModel();
  const auto plan = planned(model, withRanges(calibrated(model)));
  EXPECT_EQ(integerProducts(*plan), 7) << "6 convolutions and the head";
  EXPECT_EQ(plan->model->unquantized, model);
  EXPECT_TRUE(verifyPlan(*plan).ok());
}

TEST(QuantizedPlan, StartsFromTheModelWhateverItIsGiven) {
  const auto model = digitsModel();
  const PlanOptions options = withRanges(calibrated(model));
  const auto plan = planned(model, options);
  EXPECT_EQ(toJson(*planned(plan->model, options)), toJson(*plan)) << "nothing is quantised twice";
  EXPECT_EQ(planned(plan->model, options, plan.get())->model, plan->model) << "taken over, not made again";
  const auto floats = planned(plan->model, {.target = "cpu"});
  EXPECT_EQ(floats->model, model);
}

TEST(QuantizedPlan, APinTakesANodeOut) {
  const auto model = digitsModel();
  PlanOptions options = withRanges(calibrated(model));
  options.directives = {parsePin("late.conv1=f32:obey").value()};
  const auto plan = planned(model, options);
  EXPECT_EQ(integerProducts(*plan), 6);
  EXPECT_TRUE(obeyRefusals(*plan).empty());
  PlanOptions one{.target = "cpu"};
  one.ranges = options.ranges;
  one.directives = {parsePin("late.conv1=int8:obey").value()};
  const auto pinned = planned(model, one);
  EXPECT_EQ(integerProducts(*pinned), 1);
  EXPECT_TRUE(obeyRefusals(*pinned).empty()) << message(*obeyRefusals(*pinned).front());
}

TEST(QuantizedPlan, ComesBackFromItsJson) {
  const auto model = digitsModel();
  const auto plan = planned(model, withRanges(calibrated(model)));
  const auto back = planFromJson(Json::parse(toJson(*plan).dump()), model);
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_EQ(toJson(*back.value()).dump(), toJson(*plan).dump());
  EXPECT_EQ(back.value()->options, plan->options);
}

TEST(QuantizedPlan, TensorRtHasNoZeroPoints) {
  const auto model = digitsModel();
  const auto plan = planned(model, withRanges(calibrated(model), "tensorrt-10"));
  std::int64_t codes = 0;
  for (const ValueId value : plan->graph().allValues()) {
    EXPECT_NE(plan->graph().value(value).type.dtype, DataType::U8) << plan->graph().value(value).name;
    codes += plan->graph().value(value).type.dtype == DataType::I8 ? 1 : 0;
  }
  EXPECT_GT(codes, 10);
}

TEST(QuantizedPlan, OptionsThatDoNotFitAreRefused) {
  const auto model = digitsModel();
  const auto missing = makePlan(model, {.target = "cpu", .precisions = {DataType::I8}});
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().text().find("fusescope calibrate"), std::string::npos);
  PlanOptions unasked = withRanges(calibrated(model));
  unasked.precisions.clear();
  const auto nothing = makePlan(model, unasked);
  ASSERT_FALSE(nothing.ok());
  EXPECT_NE(nothing.error().text().find("nothing asks for int8"), std::string::npos);
}

TEST(QuantizedPlan, ADifferenceOfRangesIsTold) {
  const auto model = digitsModel();
  const auto a = planned(model, withRanges(calibrated(model)));
  const auto b =
      planned(model, withRanges(calibrated(model, {.settings = {.choice = {.method = RangeMethod::MinMax}}})));
  const auto diff = diffPlans({.cover = a.get(), .label = "a"}, {.cover = b.get(), .label = "b"});
  ASSERT_TRUE(diff.ok()) << diff.error().text();
  EXPECT_EQ(diff.value().differences.front().kind, DifferenceKind::Ranges);
}

// What is seen depends on the samples alone.
TEST(Calibrate, TheOrderOfSamplesDoesNotShow) {
  const auto model = digitsModel();
  const auto plan = planned(model, {.target = "cpu"});
  Samples samples = loadSamples(*plan, {.paths = {sampleInputs("digits")}, .batchAxis = 0}).value();
  const auto there = calibrate(*plan, samples, {});
  std::ranges::reverse(samples.list);
  const auto back = calibrate(*plan, samples, {});
  ASSERT_TRUE(there.ok() && back.ok());
  EXPECT_EQ(rangesText(there.value()), rangesText(back.value()));
  EXPECT_EQ(there.value().samples, 16);
  EXPECT_TRUE(there.value().edges.contains("stem.relu_out"));
  EXPECT_TRUE(there.value().edges.contains("image"));
  EXPECT_EQ(there.value().weights.at("early.conv1.weight").largest.size(), 16U);
}

TEST(Calibrate, NotANumberIsLocated) {
  const auto model = digitsModel();
  const auto plan = planned(model, {.target = "cpu"});
  Samples samples = loadSamples(*plan, {.paths = {sampleInputs("digits")}, .batchAxis = 0}).value();
  Tensor broken = Tensor::zeros(DataType::F32, {1, 1, 8, 8});
  broken.mutableData<float>()[5] = std::numeric_limits<float>::quiet_NaN();
  samples.list[3].inputs["image"] = broken;
  const auto ranges = calibrate(*plan, samples, {});
  ASSERT_FALSE(ranges.ok());
  EXPECT_EQ(ranges.error().where.value, "image");
  EXPECT_NE(ranges.error().text().find(samples.list[3].name), std::string::npos) << ranges.error().text();
}

}  // namespace
}  // namespace fusescope::test
