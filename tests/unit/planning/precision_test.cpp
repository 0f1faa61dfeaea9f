#include "tests/unit/planning/plan_testing.h"

namespace fusescope {
namespace {

using testing::castsOf;
using testing::findDecision;
using testing::fusions;
using testing::ModelBuilder;
using testing::pin;
using testing::planned;

/// Gemm, Relu, Gemm, and an integer branch.
std::shared_ptr<const Model> twoLayers() {
  ModelBuilder b;
  const ValueId x = b.input("x", {4, 8});
  const ValueId ids = b.input("ids", {4}, DataType::I64);
  const ValueId first = b.node("Gemm", "fc1", {x, b.weight("w1", {8, 8})}, {4, 8});
  const ValueId relu = b.node("Relu", "relu", {first}, {4, 8});
  b.output(b.node("Gemm", "fc2", {relu, b.weight("w2", {8, 8})}, {4, 8}));
  b.output(b.node("Neg", "neg", {ids}, {4}, DataType::I64));
  return b.build();
}

PlanOptions f16(Directives directives = {}) {
  return {.target = "cpu:avx2", .precisions = {DataType::F16}, .directives = std::move(directives)};
}

const PrecisionGrant& grantOf(const Plan& plan, const std::string& node) {
  const NodeId id = *plan.graph().findNode(node);
  return *std::find_if(plan.precisionMap.begin(), plan.precisionMap.end(),
                       [&](const PrecisionGrant& grant) { return grant.node == id; });
}

TEST(Precision, OneTypeIsTakenWhereFloatsAreComputed) {
  const auto plan = planned(twoLayers(), f16());
  EXPECT_EQ(grantOf(*plan, "fc1").granted, DataType::F16);
  EXPECT_EQ(grantOf(*plan, "fc1").code, "precision.lowered");
  EXPECT_EQ(grantOf(*plan, "neg").granted, DataType::I64);
  EXPECT_EQ(grantOf(*plan, "neg").code, "precision.not_float");
  EXPECT_EQ(castsOf(*plan), "x:f32>f16(model_input) fc2_out:f16>f32(model_output)");
  EXPECT_EQ(plan->fusedNodes[0].accumulate, DataType::F32);
  EXPECT_EQ(plan->storedType(*plan->graph().findValue("relu_out")), DataType::F16);
  EXPECT_EQ(plan->casts[0].bytes, std::optional<std::int64_t>(4 * 8 * (4 + 2)));
}

TEST(Precision, SeveralTypesNeedMeasurements) {
  const auto plan = planned(twoLayers(), {.target = "cpu:avx2", .precisions = {DataType::F16, DataType::BF16}});
  EXPECT_EQ(grantOf(*plan, "fc1").granted, DataType::F32);
  EXPECT_EQ(grantOf(*plan, "fc1").code, "precision.not_measured");
}

/// Knows every fused node: bf16 is fast for "fc2" and slow elsewhere.
class FixedPrices : public PriceModel {
 public:
  std::vector<Price> kernels(const Plan& plan) const override {
    std::vector<Price> prices;
    for (const FusedNode& node : plan.fusedNodes) {
      const bool brain = node.compute == DataType::BF16, half = node.compute == DataType::F16;
      const double ms = brain ? (node.name == "fc2" ? 0.5 : 9.0) : half ? 8.0 : 1.0;
      prices.push_back({.ms = ms, .how = PriceSource::Measured});
    }
    return prices;
  }
  Price conversion(DataType, DataType, std::int64_t elements) const override {
    return {.ms = 0.01 * static_cast<double>(elements), .how = PriceSource::Fitted, .spread = 0.2};
  }
};

TEST(Precision, MeasurementsChooseAmongSeveral) {
  const FixedPrices prices;
  const auto plan =
      makePlan(twoLayers(), {.target = "cpu:avx2", .precisions = {DataType::F16, DataType::BF16}}, &prices);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(grantOf(*plan.value(), "fc1").granted, DataType::F32);
  EXPECT_EQ(grantOf(*plan.value(), "fc2").granted, DataType::BF16);
  EXPECT_EQ(grantOf(*plan.value(), "fc2").code, "precision.measured");
  double conversions = 0;
  for (const PlannedCast& cast : plan.value()->casts) {
    EXPECT_EQ(cast.predictedMs, std::optional(0.01 * 4 * 8));
    EXPECT_EQ(cast.predictedHow, PriceSource::Fitted);
    conversions += *cast.predictedMs;
  }
  ASSERT_GT(conversions, 0) << "bf16 stands beside float32";
  EXPECT_DOUBLE_EQ(plan.value()->predictedMs.value(), 1.0 + 0.5 + 1.0 + conversions);
  const Json predicted = toJson(*plan.value())["predicted"];
  EXPECT_DOUBLE_EQ(predicted["measured_ms"].get<double>(), 2.5);
  EXPECT_DOUBLE_EQ(predicted["fitted_ms"].get<double>(), conversions);
  EXPECT_EQ(predicted["unknown"], 0);
}

TEST(Precision, APinSplitsTheKernelAndSaysWhatItCosts) {
  const auto plan = planned(twoLayers(), f16({pin("fc1=f32")}));
  EXPECT_EQ(fusions(*plan), "gemm{fc1} pointwise{relu} gemm{fc2} pointwise{neg}");
  EXPECT_EQ(castsOf(*plan), "fc1_out:f32>f16(pin) fc2_out:f16>f32(model_output)");
  const Decision* cost = findDecision(*plan, "precision.pin_split", "fc1");
  ASSERT_NE(cost, nullptr);
  EXPECT_EQ(cost->arguments["lost_fusions"], Json::array({"fc1 + relu"}));
  EXPECT_EQ(cost->arguments["casts"], 1);
  EXPECT_NE(findDecision(*plan, "fuse.precision_differs", "relu"), nullptr);
}

TEST(Precision, OfTwoPinsTheLaterWins) {
  const auto plan = planned(twoLayers(), f16({pin("op:Gemm=f32"), pin("fc2=bf16")}));
  EXPECT_EQ(grantOf(*plan, "fc1").granted, DataType::F32);
  EXPECT_EQ(grantOf(*plan, "fc2").granted, DataType::BF16);
  EXPECT_EQ(grantOf(*plan, "fc2").by, "pin:2");
  const Decision* overridden = findDecision(*plan, "precision.overridden", "fc2");
  ASSERT_NE(overridden, nullptr);
  EXPECT_EQ(overridden->by, "pin:1");
  EXPECT_EQ(overridden->arguments["later"], "pin:2");
}

TEST(Precision, WhatCannotBeHonouredIsRefusedOrExplained) {
  const auto obey = planned(twoLayers(), f16({pin("neg=f16:obey")}));
  ASSERT_EQ(obeyRefusals(*obey).size(), 1U);
  EXPECT_EQ(obeyRefusals(*obey)[0]->code, "precision.pin_refused");
  EXPECT_EQ(obeyRefusals(*obey)[0]->arguments["why"], "it computes no floats");

  const auto prefer = planned(twoLayers(), {.target = "tensorrt-8", .directives = {pin("fc1=bf16")}});
  EXPECT_TRUE(obeyRefusals(*prefer).empty());
  const Decision* why = findDecision(*prefer, "precision.pin_not_honoured", "fc1");
  ASSERT_NE(why, nullptr);
  EXPECT_NE(message(*why).find("tensorrt-8 does not compute in bf16"), std::string::npos);
  EXPECT_EQ(grantOf(*prefer, "fc1").granted, DataType::F32);
}

TEST(Precision, AFallbackNodeKeepsItsType) {
  const auto plan = planned(twoLayers(), f16({fallbackDirective("fc2")}));
  EXPECT_EQ(grantOf(*plan, "fc2").granted, DataType::F32);
  EXPECT_EQ(grantOf(*plan, "fc2").code, "precision.fallback");
  EXPECT_EQ(castsOf(*plan), "x:f32>f16(model_input) relu_out:f16>f32(segment_boundary)");
}

TEST(Precision, APinnedOutputTypeStandsInMemory) {
  const auto plan = planned(twoLayers(), {.target = "cpu:avx2", .directives = {parseOutputType("fc1=f16").value()}});
  EXPECT_EQ(fusions(*plan), "gemm{fc1} pointwise{relu} gemm{fc2} pointwise{neg}");
  EXPECT_EQ(plan->storedType(*plan->graph().findValue("fc1_out")), DataType::F16);
  EXPECT_EQ(plan->fusedNodes[0].compute, DataType::F32);
  EXPECT_NE(findDecision(*plan, "fuse.output_type_pinned", "fc1"), nullptr);
  const auto refused = planned(twoLayers(), f16({parseOutputType("neg=f16:obey").value()}));
  ASSERT_EQ(obeyRefusals(*refused).size(), 1U);
  EXPECT_EQ(obeyRefusals(*refused)[0]->code, "precision.output_refused");
}

}  // namespace
}  // namespace fusescope
