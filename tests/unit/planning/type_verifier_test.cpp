#include <gtest/gtest.h>

#include <functional>

#include "tests/unit/planning/plan_testing.h"

namespace fusescope::testing {
namespace {

/// A plan that somebody changed after it was made.
std::string verdictAfter(const Plan& plan, const std::function<void(Plan&)>& change) {
  Plan changed = plan;
  change(changed);
  changed.index();
  const Status verified = verifyPlan(changed);
  return verified.ok() ? "holds" : verified.error().message;
}

/// x -> first -> view -> second, with the view's result read by two.
std::shared_ptr<const Model> aroundAView() {
  ModelBuilder b;
  const ValueId first = b.node("Exp", "first", {b.input("x", {4, 6})}, {4, 6});
  const ValueId view =
      b.node("Transpose", "move", {first}, {6, 4}, DataType::F32, {{"perm", std::vector<std::int64_t>{1, 0}}});
  b.output(b.node("Softmax", "second", {view}, {6, 4}, DataType::F32, {{"axis", std::int64_t{-1}}}));
  b.output(b.node("ReduceMax", "third", {view, b.constant("axes", Tensor::ofInt64({0}))}, {1, 4}));
  return b.build();
}

FusedNode& fusedOf(Plan& plan, const std::string& node) {
  return plan.fusedNodes[plan.fusedNodeOf(*plan.graph().findNode(node))->id.index];
}

TEST(TypeVerifier, AnEdgeIsStoredAtWhatTheRuleSays) {
  const auto plan = planned(aroundAView(), {.target = "cpu:avx2", .precisions = {DataType::F16}});
  const std::string verdict = verdictAfter(*plan, [](Plan& changed) {
    fusedOf(changed, "first").outputs[0].type = DataType::F32;
    fusedOf(changed, "move").reads[0] = DataType::F32;
  });
  EXPECT_NE(verdict.find("stored at f32 where the rule says f16"), std::string::npos) << verdict;
}

TEST(TypeVerifier, AnObeyedPinHoldsOrIsRefused) {
  const auto plan = planned(aroundAView(), {.target = "cpu:avx2", .directives = {pin("second=f16:obey")}});
  const NodeId second = *plan->graph().findNode("second");
  const auto verdict = verdictAfter(*plan, [&](Plan& changed) { changed.calculates[second.index] = DataType::BF16; });
  EXPECT_NE(verdict.find("says obey"), std::string::npos) << verdict;
}

TEST(TypeVerifier, ConversionsThatCancelOverMovesAreFound) {
  const auto plan = planned(aroundAView(), {.target = "cpu:avx2"});
  const auto verdict = verdictAfter(*plan, [](Plan& changed) {
    const ValueId before = *changed.graph().findValue("first_out"), behind = *changed.graph().findValue("move_out");
    FusedNode& move = fusedOf(changed, "move");
    move.reads[0] = move.outputs[0].type = DataType::F16;
    changed.casts.push_back({.value = before, .from = DataType::F32, .to = DataType::F16, .consumers = {move.id}});
    changed.casts.push_back({.value = behind,
                             .from = DataType::F16,
                             .to = DataType::F32,
                             .consumers = {fusedOf(changed, "second").id, fusedOf(changed, "third").id}});
  });
  EXPECT_NE(verdict.find("two conversions cancel"), std::string::npos) << verdict;
}

TEST(TypeVerifier, NothingCancelsBeforeACastThatAKernelAbsorbs) {
  // Read at bf16 by one, and through a Cast to bf16, which rounds, by one that is pinned to f32: converted once.
  ModelBuilder b;
  const ValueId x = b.input("x", {4, 6});
  const ValueId view = b.node("Flatten", "view", {x}, {4, 6}, DataType::F32, {{"axis", std::int64_t{1}}});
  const ValueId cast = b.node("Cast", "cast", {view}, {4, 6}, DataType::BF16, {{"to", std::int64_t{16}}});
  b.output(b.node("Sigmoid", "sigmoid", {cast}, {4, 6}, DataType::BF16));
  b.output(b.node("ReduceMax", "max", {x, b.constant("axes", Tensor::ofInt64({0}))}, {1, 6}));
  const auto plan = planned(
      b.build(), {.target = "cpu:avx2", .precisions = {DataType::BF16}, .directives = {pin("sigmoid=f32:obey")}});
  EXPECT_EQ(castsOf(*plan), "x:f32>bf16(model_input) max_out:bf16>f32(model_output)");
}

TEST(TypeVerifier, WhatAMoveIsPinnedToIsWantedBeforeIt) {
  ModelBuilder b;
  const ValueId x = b.input("x", {4, 6});
  const std::map<std::string, Attribute> last{{"axis", std::int64_t{1}}};
  const ValueId twice = b.node("Concat", "twice", {x, x}, {4, 12}, DataType::F32, last);
  const ValueId picked =
      b.node("Gather", "picked", {twice, b.constant("i", Tensor::ofInt64({3}))}, {4, 1}, DataType::F32, last);
  b.output(b.node("Softmax", "softmax", {picked}, {4, 1}));
  b.output(b.node("ReduceMax", "max", {twice, b.constant("axes", Tensor::ofInt64({0}))}, {1, 12}));
  const auto plan = planned(
      b.build(),
      {.target = "cpu:avx2", .precisions = {DataType::BF16}, .directives = {parseOutputType("picked=f32").value()}});
  EXPECT_EQ(plan->storedType(*plan->graph().findValue("twice_out")), DataType::F32);
}

TEST(TypeVerifier, ARegionIsMatchedAgainWithoutTheNodesBesideIt) {
  // The guard is no part of the softmax's kernel: the probabilities are an output of the network.
  ModelBuilder b;
  const ValueId x = b.input("x", {4, 6});
  const ValueId masked = b.node("Add", "mask", {x, b.constant("m", Tensor::zeros(DataType::F32, {4, 6}))}, {4, 6});
  const ValueId p = b.node("Softmax", "softmax", {masked}, {4, 6}, DataType::F32, {{"axis", std::int64_t{-1}}});
  b.output(p);
  const ValueId bad = b.node("IsNaN", "bad", {p}, {4, 6}, DataType::Bool);
  b.output(b.node("Where", "guard", {bad, b.constant("zero", Tensor::scalar(0)), p}, {4, 6}));
  const auto plan = planned(b.build(), cpuOptions({splitDirective("mask")}));
  EXPECT_EQ(fusions(*plan), "pointwise{mask} softmax{softmax} pointwise{bad guard}");
}

/// int8 x and w, conv, relu, quantised again.
std::shared_ptr<const Model> quantisedConv() {
  ModelBuilder b;
  const Dims dims{1, 2, 4, 4};
  const ValueId scale = b.constant("scale", Tensor::scalar(0.5F)),
                zero = b.constant("zero", Tensor::zeros(DataType::I8, {}));
  const ValueId xq = b.node("QuantizeLinear", "xq", {b.input("x", dims), scale, zero}, dims, DataType::I8);
  const ValueId xd = b.node("DequantizeLinear", "xd", {xq, scale, zero}, dims);
  const ValueId w = b.constant("w", Tensor::zeros(DataType::I8, {2, 2, 1, 1}));
  const ValueId wd = b.node("DequantizeLinear", "wd", {w, scale, zero}, {2, 2, 1, 1});
  const ValueId y = b.node("Relu", "relu", {b.node("Conv", "conv", {xd, wd}, dims)}, dims);
  const ValueId yq = b.node("QuantizeLinear", "yq", {y, scale, zero}, dims, DataType::I8);
  b.output(b.node("DequantizeLinear", "yd", {yq, scale, zero}, dims));
  return b.build();
}

TEST(QuantisedRegion, IsOneKernelWhereKernelsHaveOneType) {
  for (const char* target : {"tensorrt-8", "tensorrt-10", "tensorrt-11"}) {
    const auto plan = planned(quantisedConv(), {.target = target});
    EXPECT_EQ(fusions(*plan), "conv{xq xd wd conv relu yq yd}") << target;
    EXPECT_EQ(plan->fusedNodes[0].compute, DataType::I8) << target;
  }
}

TEST(QuantisedRegion, ThatComesApartCalculatesAsOtherNodesDo) {
  const auto plan = planned(
      quantisedConv(), {.target = "cpu:avx2", .precisions = {DataType::F16}, .directives = {splitDirective("wd")}});
  EXPECT_EQ(plan->calculates[plan->graph().findNode("conv")->index], DataType::F16);
}

TEST(QuantisedRegion, ThatComesApartStillAnswersItsPins) {
  const auto plan =
      planned(quantisedConv(), {.target = "cpu:avx2", .directives = {pin("conv=f64:obey"), splitDirective("wd")}});
  EXPECT_NE(findDecision(*plan, "precision.pin_refused", "conv"), nullptr);
}

TEST(DirectiveCosts, AnOutputTypeIsComparedWithTheOneBehindIt) {
  const auto options = [](std::vector<std::string> texts) {
    PlanOptions given{.target = "cpu:avx2"};
    for (const std::string& text : texts) given.directives.push_back(parseOutputType(text).value());
    return given;
  };
  const auto plan = planned(aroundAView(), options({"first=f16", "first=f16:obey"}));
  const Decision* cost = findDecision(*plan, "precision.pin_free", "first");
  ASSERT_NE(cost, nullptr) << "without either directive the other is in force";
  EXPECT_EQ(cost->arguments["casts"], 0);
}

TEST(DirectiveCosts, AConversionForAnOutputIsApartFromOneForReaders) {
  ModelBuilder b;
  const ValueId a = b.node("Exp", "a", {b.input("x", {4, 6})}, {4, 6});
  b.output(a);
  b.output(b.node("Softmax", "s", {a}, {4, 6}, DataType::F32, {{"axis", std::int64_t{-1}}}));
  const auto plan = planned(b.build(), {.target = "cpu:avx2", .directives = {parseOutputType("a=f16").value()}});
  EXPECT_EQ(plan->casts.size(), 2U);
  const Decision* cost = findDecision(*plan, "precision.pin_price", "a");
  ASSERT_NE(cost, nullptr);
  EXPECT_EQ(cost->arguments["casts"], 2);
}

}  // namespace
}  // namespace fusescope::testing
