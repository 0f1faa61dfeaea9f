#include "base/json.h"
#include "planning/prices/price_model.h"
#include "planning/types/without_lowered_types.h"
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

TEST(Precision, WhatRoundsBelowFloat32IsToldWhoeverAskedForIt) {
  EXPECT_FALSE(roundsBelowF32(*planned(twoLayers(), {.target = "cpu:avx2"})));
  EXPECT_TRUE(roundsBelowF32(*planned(twoLayers(), f16())));
  ModelBuilder ofTheAuthor;
  const ValueId x = ofTheAuthor.input("x", {4, 8}, DataType::F16);
  ofTheAuthor.output(ofTheAuthor.node("Add", "sum", {x, x}, {4, 8}, DataType::F16));
  EXPECT_TRUE(roundsBelowF32(*planned(ofTheAuthor.build(), {.target = "cpu:avx2"})));
}

TEST(Precision, OneTypeIsTakenWhereFloatsAreComputed) {
  const auto plan = planned(twoLayers(), f16());
  EXPECT_EQ(grantOf(*plan, "fc1").granted, DataType::F16);
  EXPECT_EQ(codeOf(grantOf(*plan, "fc1").reason), "precision.lowered");
  EXPECT_EQ(grantOf(*plan, "neg").granted, DataType::I64);
  EXPECT_EQ(codeOf(grantOf(*plan, "neg").reason), "precision.not_float");
  EXPECT_EQ(castsOf(*plan), "x:f32>f16(model_input) fc2_out:f16>f32(model_output)");
  EXPECT_EQ(plan->fusedNodes[0].accumulate, DataType::F32);
  EXPECT_EQ(plan->storedType(*plan->graph().findValue("relu_out")), DataType::F16);
  EXPECT_EQ(plan->casts[0].bytes, std::optional<std::int64_t>(4 * 8 * (4 + 2)));
}

TEST(Precision, AnOperatorThatTheTargetLacksInTheTypeKeepsItsOwn) {
  ModelBuilder b;
  const ValueId x = b.input("x", {4, 8});
  const ValueId fc = b.node("Gemm", "fc", {x, b.weight("w", {8, 8})}, {4, 8});
  b.output(b.node("HardSwish", "act", {fc}, {4, 8}));
  const auto model = b.build();
  for (const char* target : {"tensorrt-10", "tensorrt-11"}) {
    const auto plan = planned(model, {.target = target, .precisions = {DataType::BF16}});
    EXPECT_EQ(grantOf(*plan, "fc").granted, DataType::BF16) << target;
    EXPECT_EQ(grantOf(*plan, "act").granted, DataType::F32) << target;
    EXPECT_EQ(codeOf(grantOf(*plan, "act").reason), "precision.operator_lacks") << target;
    const Decision* decision = findDecision(*plan, "precision.operator_lacks", "act");
    ASSERT_NE(decision, nullptr);
    EXPECT_EQ(message(*decision), "keeps f32: target " + std::string(target) + " does not run HardSwish in bf16");
    const auto half = planned(model, {.target = target, .precisions = {DataType::F16}});
    EXPECT_EQ(grantOf(*half, "act").granted, DataType::F16) << target;
    const auto pinned = planned(model, {.target = target, .directives = {pin("act=bf16")}});
    EXPECT_EQ(grantOf(*pinned, "act").granted, DataType::F32) << target;
    EXPECT_EQ(codeOf(grantOf(*pinned, "act").reason), "precision.pin_not_honoured") << target;
  }
  const auto here = planned(model, {.target = "cpu:avx2", .precisions = {DataType::BF16}});
  EXPECT_EQ(grantOf(*here, "act").granted, DataType::BF16);
}

TEST(Precision, SeveralTypesNeedMeasurements) {
  const auto plan = planned(twoLayers(), {.target = "cpu:avx2", .precisions = {DataType::F16, DataType::BF16}});
  EXPECT_EQ(grantOf(*plan, "fc1").granted, DataType::F32);
  EXPECT_EQ(codeOf(grantOf(*plan, "fc1").reason), "precision.not_measured");
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
  EXPECT_EQ(codeOf(grantOf(*plan.value(), "fc2").reason), "precision.measured");
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

TEST(Precision, APinThatConvertsSaysWhatItCosts) {
  const auto plan = planned(twoLayers(), f16({pin("fc2=f32")}));
  EXPECT_EQ(fusions(*plan), "gemm{fc1 relu} gemm{fc2} pointwise{neg}");
  EXPECT_EQ(castsOf(*plan), "x:f32>f16(model_input) relu_out:f16>f32(pin)");
  const Decision* cost = findDecision(*plan, "precision.pin_price", "fc2");
  ASSERT_NE(cost, nullptr);
  EXPECT_EQ(cost->arguments["lost_fusions"], (DecisionArgument::List{}));
  EXPECT_EQ(cost->arguments["casts"], 0) << "one before it for one behind it";
  // Weights of 8 x 8 and the operand at twice the width; the conversion of the operand; the result at twice the width,
  // for which it needs no conversion any more.
  EXPECT_EQ(cost->arguments["bytes"], (64 + 32) * 2 + 32 * 6 + 32 * 2 - 32 * 6);
}

TEST(Precision, AnEpilogueCalculatesInTheAccumulateTypeOfItsKernel) {
  const auto plan = planned(twoLayers(), f16({pin("relu=f32")}));
  EXPECT_EQ(fusions(*plan), "gemm{fc1 relu} gemm{fc2} pointwise{neg}");
  EXPECT_EQ(castsOf(*plan), "x:f32>f16(model_input) fc2_out:f16>f32(model_output)");
  EXPECT_NE(findDecision(*plan, "precision.pin_free", "relu"), nullptr);
  EXPECT_EQ(plan->storedType(*plan->graph().findValue("relu_out")), DataType::F16) << "what its only reader reads";
}

TEST(Precision, AProducerWritesWhatItsReadersRead) {
  const auto plan = planned(twoLayers(), f16({pin("fc1=f32"), pin("relu=f32")}));
  EXPECT_EQ(castsOf(*plan), "fc2_out:f16>f32(model_output)");
  const auto wide = planned(twoLayers(), f16({pin("relu=f32"), pin("fc2=f32")}));
  EXPECT_EQ(wide->storedType(*wide->graph().findValue("relu_out")), DataType::F32);
}

TEST(Precision, APinThatMakesAnotherKernelIsNotFree) {
  // No conversion more and no byte more, but its product is one of f32: what that takes is another question.
  const auto plan = planned(twoLayers(), {.target = "cpu:avx2", .directives = {pin("fc2=f32")}});
  EXPECT_NE(findDecision(*plan, "precision.pin_free", "fc2"), nullptr) << "the result would be the same without it";
  const auto lowered = planned(twoLayers(), f16({pin("fc1=f32"), pin("relu=f32"), pin("fc2=f32")}));
  const Decision* price = findDecision(*lowered, "precision.pin_price", "fc1");
  ASSERT_NE(price, nullptr);
  EXPECT_EQ(price->arguments["retyped"], 1);
  EXPECT_NE(findDecision(*lowered, "precision.pin_free", "relu"), nullptr);
}

TEST(Precision, KernelsOfDoublesStayAmongThemselves) {
  ModelBuilder b;
  const ValueId x = b.input("x", {4, 8});
  const ValueId product = b.node("MatMul", "mm", {x, b.weight("w", {8, 8})}, {4, 8});
  const ValueId wide = b.node("Cast", "widen", {product}, {4, 8}, DataType::F64, {{"to", std::int64_t{11}}});
  b.output(b.node("Exp", "exp", {wide}, {4, 8}, DataType::F64));
  EXPECT_EQ(fusions(*planned(b.build(), {.target = "cpu:avx2"})), "matmul{mm} pointwise{widen exp}");
}

TEST(Precision, PinsTogetherSayWhatTheyShare) {
  const auto plan = planned(twoLayers(), f16({pin("relu=f32"), pin("fc2=f32")}));
  const Decision* together = findDecision(*plan, "precision.pins_together");
  ASSERT_NE(together, nullptr);
  EXPECT_EQ(together->arguments["pins"], 2);
  const auto none = planned(twoLayers(), f16());
  EXPECT_EQ(together->arguments["casts"], static_cast<int>(plan->casts.size()) - static_cast<int>(none->casts.size()));
}

TEST(Precision, MovesTakeTheTypeTheyFind) {
  ModelBuilder b;
  const ValueId x = b.input("x", {4, 8});
  const ValueId product = b.node("MatMul", "mm", {x, b.weight("w", {8, 8})}, {4, 8});
  const ValueId view = b.node("Reshape", "view", {product, b.constant("s", Tensor::ofInt64({2, 2, 8}))}, {2, 2, 8});
  const ValueId turned =
      b.node("Transpose", "turn", {view}, {8, 2, 2}, DataType::F32, {{"perm", std::vector<std::int64_t>{2, 0, 1}}});
  b.output(b.node("Relu", "relu", {turned}, {8, 2, 2}));
  const auto plan = planned(b.build(), f16({pin("mm=f32"), pin("turn=f32")}));
  EXPECT_EQ(fusions(*plan), "matmul{mm view} transpose{turn} pointwise{relu}");
  EXPECT_EQ(castsOf(*plan), "relu_out:f16>f32(model_output)");
  EXPECT_EQ(grantOf(*plan, "turn").granted, DataType::F16);
  const Decision* nothing = findDecision(*plan, "precision.nothing_to_pin", "turn");
  ASSERT_NE(nothing, nullptr);
  EXPECT_NE(message(*nothing).find("moves elements"), std::string::npos);
}

TEST(Precision, AnInputGoesAlongWithWhatItIsJoinedTo) {
  ModelBuilder b;
  const ValueId x = b.input("x", {4, 8}), past = b.input("past", {2, 8});
  const ValueId product = b.node("MatMul", "mm", {x, b.weight("w", {8, 8})}, {4, 8});
  const ValueId all = b.node("Concat", "join", {past, product}, {6, 8}, DataType::F32, {{"axis", std::int64_t{0}}});
  b.output(all);
  b.output(b.node("MatMul", "next", {all, b.weight("v", {8, 8})}, {6, 8}));
  const auto plan = planned(b.build(), f16());
  EXPECT_EQ(plan->storedType(all), DataType::F16);
  EXPECT_EQ(
      castsOf(*plan),
      "x:f32>f16(model_input) past:f32>f16(model_input) join_out:f16>f32(model_output) next_out:f16>f32(model_output)");
}

TEST(Precision, TargetsWhoseKernelsHaveOneTypeComeApart) {
  const auto plan =
      planned(twoLayers(), {.target = "tensorrt-10", .precisions = {DataType::F16}, .directives = {pin("relu=f32")}});
  EXPECT_EQ(fusions(*plan), "gemm{fc1} pointwise{relu} gemm{fc2} pointwise{neg}");
  const Decision* cost = findDecision(*plan, "precision.pin_price", "relu");
  ASSERT_NE(cost, nullptr);
  EXPECT_EQ(cost->arguments["lost_fusions"], (DecisionArgument::List{"fc1 + relu"}));
  EXPECT_EQ(cost->arguments["kernels"], 1);
  const auto whole = planned(twoLayers(), {.target = "tensorrt-10", .precisions = {DataType::F16}});
  EXPECT_NE(findDecision(*whole, "fuse.predicted", "relu"), nullptr);
  EXPECT_EQ(findDecision(*whole, "fuse.merged"), nullptr);
}

TEST(Precision, AStronglyTypedTargetNamesTheEdit) {
  const auto plan = planned(twoLayers(), {.target = "tensorrt-11", .directives = {pin("fc1=f16")}});
  const Decision* edit = findDecision(*plan, "precision.pin_by_edit", "fc1");
  ASSERT_NE(edit, nullptr);
  EXPECT_NE(message(*edit).find("a Cast to f16 on each float operand of fc1"), std::string::npos) << message(*edit);
  EXPECT_EQ(findDecision(*plan, "precision.pin_granted"), nullptr);
  const auto lowered = planned(twoLayers(), {.target = "tensorrt-11", .precisions = {DataType::F16}});
  EXPECT_NE(findDecision(*lowered, "precision.lowered_by_edit", "fc1"), nullptr);
}

/// q · k in f16, a Cast to f32, Exp, a Cast back, Relu.
std::shared_ptr<const Model> withCasts() {
  ModelBuilder b;
  const auto to = [](DataType type) {
    return std::map<std::string, Attribute>{{"to", std::int64_t{type == DataType::F32 ? 1 : 10}}};
  };
  const ValueId q = b.input("q", {4, 8}, DataType::F16);
  const ValueId s = b.node("Softmax", "before", {q}, {4, 8}, DataType::F16);
  const ValueId up = b.node("Cast", "up", {s}, {4, 8}, DataType::F32, to(DataType::F32));
  const ValueId wide = b.node("Softmax", "wide", {up}, {4, 8});
  const ValueId down = b.node("Cast", "down", {wide}, {4, 8}, DataType::F16, to(DataType::F16));
  b.output(b.node("Relu", "relu", {down}, {4, 8}, DataType::F16));
  return b.build();
}

TEST(Precision, WhatTheAuthorChoseIsKeptUnlessADirectiveSaysOtherwise) {
  const auto plan = planned(withCasts(), {.target = "cpu:avx2", .precisions = {DataType::BF16}});
  EXPECT_EQ(grantOf(*plan, "before").granted, DataType::F16);
  EXPECT_EQ(grantOf(*plan, "wide").granted, DataType::F32);
  EXPECT_EQ(castsOf(*plan), "");
  const Decision* kept = findDecision(*plan, "precision.author", "wide");
  ASSERT_NE(kept, nullptr);
  EXPECT_NE(message(*kept).find("the Cast up"), std::string::npos);
  const auto pinned = planned(withCasts(), {.target = "cpu:avx2", .directives = {pin("wide=f16"), pin("relu=f32")}});
  EXPECT_EQ(grantOf(*pinned, "wide").granted, DataType::F16);
  EXPECT_EQ(grantOf(*pinned, "relu").granted, DataType::F32);
}

/// A normalisation of f16 whose mean and inverse deviation are f32, and one that reads each of them.
std::shared_ptr<const Model> withWideStatistics() {
  GraphEditor editor;
  const auto value = [&](const char* name, DataType type, std::int64_t last) {
    return editor.addValue(name, {type, Shape::of(Dims{4, last})});
  };
  const ValueId x = editor.addInput("x", {DataType::F16, Shape::of(Dims{4, 8})});
  const ValueId scale = editor.addConstant("scale", Tensor::zeros(DataType::F16, {8}));
  const ValueId y = value("y", DataType::F16, 8), mean = value("mean", DataType::F32, 1);
  const ValueId inverse = value("inverse", DataType::F32, 1), wide = value("wide", DataType::F32, 1);
  editor.addNode({.op = "LayerNormalization", .name = "norm", .inputs = {x, scale}, .outputs = {y, mean, inverse}});
  editor.addNode({.op = "Sigmoid", .name = "reader", .inputs = {inverse}, .outputs = {wide}});
  for (const ValueId output : {y, mean, wide}) editor.addOutput(output);
  Model model;
  model.graph = editor.publish().value();
  model.path = "model.onnx";
  return std::make_shared<const Model>(std::move(model));
}

TEST(Precision, AResultThatTheAuthorDeclaresWiderThanItsNodeIsStoredSo) {
  const auto storedIn = [](const Plan& plan, const char* value) {
    return plan.storedType(*plan.graph().findValue(value));
  };
  for (const char* target : {"cpu:avx2", "tensorrt-10"}) {
    for (const Directives& pins : {Directives(), Directives{pin("norm=f32")}, Directives{pin("norm=bf16")}}) {
      const auto plan = planned(withWideStatistics(), {.target = target, .directives = pins});
      EXPECT_EQ(storedIn(*plan, "y"), DataType::F16) << target;
      EXPECT_EQ(storedIn(*plan, "mean"), DataType::F32) << target;
      EXPECT_EQ(storedIn(*plan, "inverse"), DataType::F32) << target;
    }
  }
  // Narrower only where what reads it was allowed to be.
  const auto narrow = planned(withWideStatistics(), f16());
  EXPECT_EQ(storedIn(*narrow, "mean"), DataType::F32) << "an output of the network";
  EXPECT_EQ(storedIn(*narrow, "inverse"), DataType::F16);
}

TEST(Precision, CastsBetweenFloatsLeaveNoKernelOfTheirOwn) {
  const auto plan = planned(withCasts(), {.target = "cpu:avx2"});
  for (const FusedNode& fused : plan->fusedNodes)
    EXPECT_TRUE(fused.nodes.size() > 1 || !plan->graph().node(fused.root).is("Cast")) << fusions(*plan);
}

TEST(Precision, AShapeReadsNothingOfItsInput) {
  ModelBuilder b;
  const ValueId x = b.input("x", {64, 8});
  b.output(b.node("Shape", "shape", {x}, {2}, DataType::I64));
  const auto plan = planned(b.build(), {.target = "cpu:avx2"});
  EXPECT_EQ(plan->fusedNodes.at(0).bytes, std::optional<std::int64_t>(2 * 8));
}

TEST(Precision, AFloatThatBecomesAnIndexIsWarnedOf) {
  ModelBuilder b;
  const ValueId p = b.input("p", {4});
  const ValueId place = b.node("Floor", "floor", {p}, {4});
  const ValueId index = b.node("Cast", "to_int", {place}, {4}, DataType::I64, {{"to", std::int64_t{7}}});
  b.output(b.node("Gather", "gather", {b.weight("table", {8000, 2}), index}, {4, 2}));
  const auto lowered = planned(b.build(), f16());
  const Decision* warning = findDecision(*lowered, "precision.index_lowered", "floor");
  ASSERT_NE(warning, nullptr);
  EXPECT_EQ(warning->arguments["limit"], 2048);
  EXPECT_EQ(warning->arguments["index_of"], "gather");
  EXPECT_EQ(findDecision(*planned(b.build(), f16({pin("floor=f32")})), "precision.index_lowered"), nullptr);
  EXPECT_EQ(lowered->fusedNodeOf(*lowered->graph().findNode("gather"))->bytes, 4 * 2 * 4 * 2 + 4 * 8)
      << "what a Gather moves is not its table";
}

TEST(Precision, OfTwoPinsTheLaterWins) {
  const auto plan = planned(twoLayers(), f16({pin("op:Gemm=f32"), pin("fc2=bf16")}));
  EXPECT_EQ(grantOf(*plan, "fc1").granted, DataType::F32);
  EXPECT_EQ(grantOf(*plan, "fc2").granted, DataType::BF16);
  EXPECT_EQ(grantOf(*plan, "fc2").by.text(), "pin:2");
  const Decision* overridden = findDecision(*plan, "precision.overridden", "fc2");
  ASSERT_NE(overridden, nullptr);
  EXPECT_EQ(overridden->by.text(), "pin:1");
  EXPECT_EQ(overridden->arguments["in_force"], "pin:2");
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
  EXPECT_EQ(codeOf(grantOf(*plan, "fc2").reason), "precision.fallback");
  EXPECT_EQ(castsOf(*plan), "x:f32>f16(model_input) relu_out:f16>f32(segment_boundary)");
}

TEST(Precision, APinnedOutputTypeThatIsObeyedStandsInMemory) {
  const auto plan =
      planned(twoLayers(), {.target = "cpu:avx2", .directives = {parseOutputType("fc1=f16:obey").value()}});
  EXPECT_EQ(fusions(*plan), "gemm{fc1} pointwise{relu} gemm{fc2} pointwise{neg}");
  EXPECT_EQ(plan->storedType(*plan->graph().findValue("fc1_out")), DataType::F16);
  EXPECT_EQ(plan->fusedNodes[0].compute, DataType::F32);
  EXPECT_NE(findDecision(*plan, "fuse.output_type_pinned", "fc1"), nullptr);
  EXPECT_NE(findDecision(*plan, "precision.output_granted", "fc1"), nullptr);
  EXPECT_NE(findDecision(*plan, "precision.pin_price", "fc1"), nullptr);
  const auto refused = planned(twoLayers(), f16({parseOutputType("neg=f16:obey").value()}));
  ASSERT_EQ(obeyRefusals(*refused).size(), 1U);
  EXPECT_EQ(obeyRefusals(*refused)[0]->code, "precision.output_refused");
}

TEST(Precision, APreferredOutputTypeOfAnInnerEdgeIsHeldWider) {
  const auto plan = planned(twoLayers(), {.target = "cpu:avx2", .directives = {parseOutputType("fc1=f16").value()}});
  EXPECT_EQ(fusions(*plan), "gemm{fc1 relu} gemm{fc2} pointwise{neg}");
  const Decision* inner = findDecision(*plan, "precision.output_inner", "fc1");
  ASSERT_NE(inner, nullptr);
  EXPECT_NE(message(*inner).find("never stored"), std::string::npos) << message(*inner);
}

TEST(Precision, AWidePatternPassesOverWhatHasNoFloats) {
  const auto plan = planned(twoLayers(), {.target = "cpu:avx2", .directives = {pin("*=f16:obey")}});
  EXPECT_TRUE(obeyRefusals(*plan).empty());
  EXPECT_NE(findDecision(*plan, "precision.nothing_to_pin", "neg"), nullptr);
}

}  // namespace
}  // namespace fusescope
