#include <limits>

#include "base/json.h"
#include "tests/unit/planning/plan_testing.h"

namespace fusescope {
namespace {

using testing::castsOf;
using testing::findDecision;
using testing::ModelBuilder;
using testing::planned;

PlanOptions tensorrt8(const char* mode) {
  return {.target = "tensorrt-8", .directives = {parseTruncate(mode).value()}};
}

std::vector<std::string> names(const Plan& plan, const std::vector<TruncatedValue>& values) {
  std::vector<std::string> result;
  for (const TruncatedValue& value : values) result.push_back(plan.graph().value(value.value).name);
  return result;
}

std::shared_ptr<const Model> wideModel(std::int64_t offset) {
  ModelBuilder b;
  const ValueId i = b.input("i", {4}, DataType::I64);
  const ValueId sum = b.node("Add", "add", {i, b.constant("off", Tensor::ofInt64({offset}))}, {4}, DataType::I64);
  b.output(sum);
  const ValueId wide = b.node("Cast", "cast", {sum}, {4}, DataType::F64, {{"to", std::int64_t{11}}});
  b.output(b.node("Relu", "relu", {wide}, {4}, DataType::F64));
  return b.build();
}

TEST(Truncation, ThreeListsApart) {
  const auto plan = planned(wideModel(7), tensorrt8("all"));
  EXPECT_EQ(names(*plan, plan->truncation.inputs), std::vector<std::string>{"i"});
  EXPECT_EQ(names(*plan, plan->truncation.constants), std::vector<std::string>{"off"});
  EXPECT_EQ(names(*plan, plan->truncation.produced), (std::vector<std::string>{"add_out", "cast_out", "relu_out"}));
  EXPECT_EQ(castsOf(*plan),
            "i:int64>int32(truncation) add_out:int32>int64(model_output) relu_out:f32>f64(model_output)");
  for (const auto& [code, value] :
       {std::pair{"truncate.input", "i"}, {"truncate.constant", "off"}, {"truncate.produced", "relu_out"}})
    EXPECT_NE(findDecision(*plan, code, value), nullptr) << code;
  EXPECT_EQ(findDecision(*plan, "truncate.mode")->arguments["values"], 5);
  EXPECT_EQ(plan->segments.size(), 1U);
  for (const FusedNode& fused : plan->fusedNodes) {
    for (const FusedOutput& output : fused.outputs) {
      EXPECT_NE(output.type, DataType::I64);
      EXPECT_NE(output.type, DataType::F64);
    }
  }
}

TEST(Truncation, WithoutItTheSameNodesFallBackAndTheReasonNamesIt) {
  const auto plan = planned(wideModel(7), tensorrt8("none"));
  EXPECT_TRUE(plan->truncation.inputs.empty() && plan->truncation.constants.empty());
  EXPECT_TRUE(plan->truncation.produced.empty());
  EXPECT_EQ(plan->segments[0].kind, SegmentKind::Fallback);
  for (const char* node : {"add", "cast", "relu"}) {
    const Decision* needs = findDecision(*plan, "validate.needs_truncation", node);
    ASSERT_NE(needs, nullptr) << node;
    EXPECT_EQ(needs->arguments["help"], "truncation");
  }
  EXPECT_EQ(findDecision(*plan, "validate.needs_truncation", "add")->arguments["mode"], "long");
  EXPECT_EQ(findDecision(*plan, "validate.needs_truncation", "cast")->arguments["mode"], "all");
  EXPECT_EQ(findDecision(*plan, "validate.needs_truncation", "relu")->arguments["mode"], "double");
}

PlanOptions apart(const char* inputs, const char* constants) {
  return {.target = "tensorrt-8",
          .directives = {parseTruncateInputs(inputs).value(), parseTruncateConstants(constants).value()}};
}

/// Indices that are constants, and ones that are an input.
std::shared_ptr<const Model> twoGathers() {
  ModelBuilder b;
  const ValueId x = b.input("x", {8, 4}), i = b.input("i", {2}, DataType::I64);
  b.output(b.node("Gather", "by_constant", {x, b.constant("c", Tensor::ofInt64({3, 5}))}, {2, 4}));
  b.output(b.node("Gather", "by_input", {x, i}, {2, 4}));
  return b.build();
}

TEST(Truncation, OfInputsAndOfConstantsIsChosenApart) {
  const auto kindOf = [](const Plan& plan, const char* node) {
    return plan.inFallback(*plan.fusedNodeOf(*plan.graph().findNode(node))) ? "fallback" : "accelerated";
  };
  const auto constants = planned(twoGathers(), apart("none", "long"));
  EXPECT_EQ(names(*constants, constants->truncation.constants), std::vector<std::string>{"c"});
  EXPECT_TRUE(constants->truncation.inputs.empty());
  EXPECT_STREQ(kindOf(*constants, "by_constant"), "accelerated");
  EXPECT_STREQ(kindOf(*constants, "by_input"), "fallback");
  const Decision* wide = findDecision(*constants, "truncate.not_chosen", "i");
  ASSERT_NE(wide, nullptr);
  EXPECT_NE(message(*wide).find("(--truncate-inputs long "), std::string::npos) << message(*wide);
  const auto inputs = planned(twoGathers(), apart("long", "none"));
  EXPECT_EQ(names(*inputs, inputs->truncation.inputs), std::vector<std::string>{"i"});
  EXPECT_TRUE(inputs->truncation.constants.empty());
  EXPECT_STREQ(kindOf(*inputs, "by_constant"), "fallback");
  EXPECT_STREQ(kindOf(*inputs, "by_input"), "accelerated");
  const Decision* kept = findDecision(*inputs, "truncate.not_chosen", "c");
  ASSERT_NE(kept, nullptr);
  EXPECT_NE(message(*kept).find("(--truncate-constants long "), std::string::npos) << message(*kept);
  EXPECT_EQ(findDecision(*inputs, "validate.needs_truncation", "by_constant")->arguments["mode"], "long");
}

TEST(Truncation, OneForBothIsTheSameAsEachAlone) {
  for (const char* mode : {"none", "long", "double", "all"}) {
    const auto one = planned(wideModel(7), tensorrt8(mode)), two = planned(wideModel(7), apart(mode, mode));
    EXPECT_EQ(names(*one, one->truncation.inputs), names(*two, two->truncation.inputs)) << mode;
    EXPECT_EQ(names(*one, one->truncation.constants), names(*two, two->truncation.constants)) << mode;
    EXPECT_EQ(names(*one, one->truncation.produced), names(*two, two->truncation.produced)) << mode;
    EXPECT_EQ(castsOf(*one), castsOf(*two)) << mode;
  }
}

TEST(Truncation, WhatIsMadeOfSomethingWideStaysWide) {
  const auto plan = planned(wideModel(7), apart("none", "all"));
  EXPECT_EQ(names(*plan, plan->truncation.produced), std::vector<std::string>{"relu_out"});
  EXPECT_NE(findDecision(*plan, "truncate.not_chosen", "add_out"), nullptr) << "it is made of i";
  EXPECT_EQ(findDecision(*plan, "truncate.not_chosen", "relu_out"), nullptr) << "no float64 is an input";
}

TEST(Truncation, TheLaterOfBothAndOneHolds) {
  PlanOptions options = tensorrt8("none");
  options.directives.push_back(parseTruncateConstants("long").value());
  const auto plan = planned(twoGathers(), options);
  EXPECT_TRUE(plan->truncation.inputs.empty());
  EXPECT_EQ(plan->truncation.constants.size(), 1U);
  EXPECT_EQ(findDecision(*plan, "precision.overridden"), nullptr) << "the first still holds for inputs";
  std::swap(options.directives[0], options.directives[1]);
  const auto swapped = planned(twoGathers(), options);
  EXPECT_TRUE(swapped->truncation.constants.empty());
  EXPECT_NE(findDecision(*swapped, "precision.overridden"), nullptr);
}

TEST(Truncation, AConstantOutOfRangeStaysAndItsConsumerSaysSo) {
  const auto plan = planned(wideModel(std::int64_t{1} << 40), tensorrt8("all"));
  ASSERT_EQ(plan->truncation.refused.size(), 1U);
  EXPECT_EQ(plan->truncation.refused[0].code, "truncate.constant_out_of_range");
  EXPECT_NE(plan->truncation.refused[0].message.find("1099511627776"), std::string::npos);
  EXPECT_NE(findDecision(*plan, "validate.constant_not_truncated", "add"), nullptr);
  EXPECT_EQ(plan->fusedNodeOf(*plan->graph().findNode("add"))->compute, DataType::I64);
}

TEST(Truncation, TheEndsOfASliceSaturateAnyway) {
  ModelBuilder b;
  const ValueId x = b.input("x", {4, 8});
  const ValueId start = b.constant("start", Tensor::ofInt64({1}));
  const ValueId end = b.constant("end", Tensor::ofInt64({std::numeric_limits<std::int64_t>::max()}));
  b.output(b.node("Slice", "slice", {x, start, end}, {3, 8}));
  const auto plan = planned(b.build(), tensorrt8("long"));
  EXPECT_EQ(names(*plan, plan->truncation.constants), (std::vector<std::string>{"start", "end"}));
  EXPECT_TRUE(plan->truncation.refused.empty());
  EXPECT_EQ(plan->segments[0].kind, SegmentKind::Accelerated);
  const Decision* saturates = findDecision(*plan, "truncate.constant_saturates", "end");
  ASSERT_NE(saturates, nullptr);
  EXPECT_EQ(saturates->arguments["consumer"], "slice");
  EXPECT_EQ(saturates->arguments["element"], "9223372036854775807");
  EXPECT_EQ(findDecision(*plan, "truncate.constant", "end"), nullptr) << "not every element survives";
  EXPECT_NE(findDecision(*plan, "truncate.constant", "start"), nullptr);
}

TEST(Truncation, TheMostBoxesSaturateAnyway) {
  ModelBuilder b;
  const ValueId boxes = b.input("boxes", {1, 6, 4}), scores = b.input("scores", {1, 1, 6});
  const ValueId most = b.constant("most", Tensor::ofInt64({std::int64_t{1} << 62}));
  b.output(b.node("NonMaxSuppression", "nms", {boxes, scores, most}, {6, 3}, DataType::I64));
  const auto plan = planned(b.build(), tensorrt8("long"));
  EXPECT_EQ(findDecision(*plan, "truncate.constant_saturates", "most")->arguments["consumer"], "nms");
}

TEST(Truncation, AConstantThatAnotherNodeReadsDoesNotSaturate) {
  ModelBuilder b;
  const ValueId x = b.input("x", {4, 8});
  const ValueId start = b.constant("start", Tensor::ofInt64({1}));
  const ValueId end = b.constant("end", Tensor::ofInt64({std::numeric_limits<std::int64_t>::max()}));
  b.output(b.node("Slice", "slice", {x, start, end}, {3, 8}));
  b.output(b.node("Neg", "neg", {end}, {1}, DataType::I64));
  const auto plan = planned(b.build(), tensorrt8("long"));
  EXPECT_NE(findDecision(*plan, "truncate.constant_out_of_range", "end"), nullptr);
  EXPECT_NE(findDecision(*plan, "validate.constant_not_truncated", "slice"), nullptr);
}

TEST(Truncation, AConstantWithoutDataIsNotToldToSurvive) {
  ModelBuilder b;
  const ValueId i = b.input("i", {4}, DataType::I64);
  const ValueId c = b.constant("c", Tensor::withoutData(DataType::I64, {4}));
  b.output(b.node("Add", "add", {i, c}, {4}, DataType::I64));
  const auto plan = planned(b.build(), tensorrt8("long"));
  ASSERT_EQ(plan->truncation.refused.size(), 1U);
  EXPECT_EQ(plan->truncation.refused[0].code, "truncate.constant_without_data");
  EXPECT_TRUE(plan->truncation.constants.empty());
  const Decision* verdict = findDecision(*plan, "validate.constant_not_truncated", "add");
  ASSERT_NE(verdict, nullptr);
  EXPECT_NE(message(*verdict).find("c has no data to prove that it fits into int32"), std::string::npos)
      << message(*verdict);
  EXPECT_EQ(plan->segments[0].kind, SegmentKind::Fallback);
}

TEST(Truncation, WhatStaysWideForTheModeAloneSaysWhichWouldNarrowIt) {
  const auto none = planned(wideModel(7), tensorrt8("none"));
  for (const char* value : {"i", "off", "add_out", "cast_out", "relu_out"}) {
    const Decision* decision = findDecision(*none, "truncate.not_chosen", value);
    ASSERT_NE(decision, nullptr) << value;
    const bool isLong = decision->arguments["from"] == "int64";
    EXPECT_EQ(decision->arguments["mode"], isLong ? "long" : "double") << value;
  }
  const auto longs = planned(wideModel(7), tensorrt8("long"));
  EXPECT_EQ(findDecision(*longs, "truncate.not_chosen", "i"), nullptr);
  EXPECT_EQ(findDecision(*longs, "truncate.not_chosen", "cast_out")->arguments["mode"], "all");
  const auto wide = planned(wideModel(std::int64_t{1} << 40), tensorrt8("none"));
  EXPECT_EQ(findDecision(*wide, "truncate.not_chosen", "off"), nullptr) << "no mode would narrow it";
  EXPECT_EQ(findDecision(*wide, "validate.needs_truncation", "add"), nullptr) << "nor make its reader supported";
}

/// An If on int64: one branch adds `inside` and the captured `one`, the other passes the input on.
std::shared_ptr<const Model> branching(const char* one, const char* inside) {
  const std::string text = R"(graph "g" {
    input %c: bool[]
    input %i: int64[4]
    const %one: int64[1] = [)" +
                           std::string(one) + R"(]
    %y: int64[4] = If(%c) <else_branch=body (%i) graph "e" { input %i: int64[4]
        %e: int64[4] = Identity(%i) {name="inner_id", origins=[0]}
        output %e }, then_branch=body (%i, %one) graph "t" {
        input %i: int64[4]
        input %one: int64[1]
        const %two: int64[1] = [)" +
                           std::string(inside) + R"(]
        %s: int64[4] = Add(%i, %one) {name="inner_add", origins=[0]}
        %t: int64[4] = Add(%s, %two) {name="inner_add2", origins=[0]}
        output %t }> {name="the_if", origins=[0]}
    output %y
  })";
  auto graph = parseGraph(text);
  EXPECT_TRUE(graph.ok()) << (graph.ok() ? "" : graph.error().text());
  Model model;
  model.graph = graph.value();
  model.origins.push_back({"the_if", "If", ""});
  return std::make_shared<const Model>(std::move(model));
}

TEST(Truncation, ReachesIntoBodies) {
  const auto plan = planned(branching("3", "7"), tensorrt8("long"));
  EXPECT_EQ(findDecision(*plan, "validate.supported", "the_if") != nullptr, true);
  EXPECT_NE(findDecision(*plan, "truncate.constant", "two"), nullptr);
  EXPECT_NE(findDecision(*plan, "truncate.produced", "s"), nullptr);
  const auto none = planned(branching("3", "7"), tensorrt8("none"));
  const Decision* needs = findDecision(*none, "validate.needs_truncation", "the_if");
  ASSERT_NE(needs, nullptr);
  EXPECT_EQ(needs->arguments["mode"], "long");
  EXPECT_NE(findDecision(*none, "truncate.not_chosen", "two"), nullptr);
  EXPECT_EQ(findDecision(*none, "truncate.produced", "s"), nullptr);
}

TEST(Truncation, AConstantThatABodyCapturesIsToldAsSuch) {
  const auto plan = planned(branching("3", "7"), tensorrt8("long"));
  ASSERT_EQ(plan->truncation.constants.size(), 1U);
  ASSERT_EQ(plan->truncation.constants.front().capturedBy.size(), 1U);
  EXPECT_EQ(plan->graph().node(plan->truncation.constants.front().capturedBy.front()).name, "the_if");
  const Decision* captured = findDecision(*plan, "truncate.constant", "one");
  ASSERT_NE(captured, nullptr);
  EXPECT_NE(message(*captured).find("constant one (read from outside in bodies of the_if) is narrowed"),
            std::string::npos)
      << message(*captured);
  EXPECT_EQ(message(*findDecision(*plan, "truncate.constant", "two")).find("outside"), std::string::npos);
  const auto json = toJson(*plan);
  EXPECT_EQ(json["truncation"]["constants"][0]["captured_by"], Json::array({"the_if"}));
}

TEST(Truncation, ReachesIntoBodiesForConstantsAlone) {
  const auto plan = planned(branching("3", "7"), apart("none", "long"));
  const Decision* needs = findDecision(*plan, "validate.needs_truncation", "the_if");
  ASSERT_NE(needs, nullptr) << "its bodies add constants to an input that stays wide";
  EXPECT_EQ(needs->arguments["mode"], "long");
  EXPECT_NE(findDecision(*plan, "truncate.not_chosen", "s"), nullptr);
}

TEST(Truncation, AConstantOfABodyOrCapturedByItThatDoesNotSurvive) {
  const char* kWide = "1099511627776";
  for (const bool captured : {true, false}) {
    const auto plan = planned(captured ? branching(kWide, "7") : branching("3", kWide), tensorrt8("all"));
    EXPECT_NE(findDecision(*plan, "truncate.constant_out_of_range", captured ? "one" : "two"), nullptr);
    const Decision* verdict = findDecision(*plan, "validate.body_not_supported", "the_if");
    ASSERT_NE(verdict, nullptr) << captured;
    EXPECT_EQ(verdict->arguments["inner"], captured ? "inner_add" : "inner_add2");
    EXPECT_EQ(verdict->arguments["inner_code"], "validate.constant_not_truncated");
    EXPECT_NE(message(*verdict).find(kWide), std::string::npos) << message(*verdict);
    EXPECT_EQ(findDecision(*plan, "truncate.produced", "s"), nullptr) << "the holder falls back";
  }
}

TEST(Truncation, WhatNoModeMendsIsToldByWhatStandsInTheWayOfAll) {
  ModelBuilder b;
  const ValueId x = b.input("x", {1, 3, 8}, DataType::F64);
  b.output(b.node("MaxPool", "pool", {x}, {1, 3, 4}, DataType::F64, {{"kernel_shape", std::vector<std::int64_t>{2}}}));
  const auto plan = planned(b.build(), tensorrt8("none"));
  EXPECT_NE(findDecision(*plan, "validate.rank_not_supported", "pool"), nullptr) << "f32 would not help";
}

/// Work that grew with the square of inputs and outputs would not end before the test's time is over.
TEST(Truncation, ManyInputsAndOutputsArePlannedInTime) {
  constexpr std::size_t kCount = 100'000;
  ModelBuilder b;
  for (std::size_t i = 0; i < kCount; ++i) {
    const ValueId x = b.input("x" + std::to_string(i), {1}, DataType::I64);
    b.output(b.node("Slice", "s" + std::to_string(i),
                    {x, b.constant("a" + std::to_string(i), Tensor::ofInt64({0})),
                     b.constant("e" + std::to_string(i), Tensor::ofInt64({std::int64_t{1} << 40}))},
                    {1}, DataType::I64));
  }
  const auto model = b.build();
  const Target target = Target::fromName("tensorrt-8").value();
  const Truncation truncation = planTruncation(*model->graph, target, TruncateModes::both(TruncateMode::Long));
  EXPECT_EQ(truncation.plan.inputs.size(), kCount);
  DirectiveMap directives;
  EXPECT_EQ(validateNodes(*model->graph, target, directives, truncation).size(), kCount);
}

TEST(Truncation, AFloat64ThatWouldVanishIsNotTruncated) {
  for (const double number : {1e-300, 1e300}) {
    ModelBuilder b;
    const ValueId x = b.input("x", {1}, DataType::F64);
    const ValueId c = b.constant("c", Tensor::copyOf<double>(DataType::F64, {1}, std::span(&number, 1)));
    b.output(b.node("Mul", "mul", {x, c}, {1}, DataType::F64));
    const auto plan = planned(b.build(), tensorrt8("all"));
    EXPECT_EQ(plan->truncation.refused.size(), 1U) << number;
    EXPECT_EQ(plan->segments[0].kind, SegmentKind::Fallback) << number;
  }
}

TEST(Truncation, CpuTruncatesNothing) {
  const auto plan = planned(wideModel(7), {.target = "cpu:avx2", .directives = {parseTruncate("all").value()}});
  EXPECT_TRUE(plan->truncation.inputs.empty() && plan->truncation.produced.empty());
  EXPECT_TRUE(plan->casts.empty());
  EXPECT_EQ(plan->fusedNodeOf(*plan->graph().findNode("relu"))->compute, DataType::F64);
}

}  // namespace
}  // namespace fusescope
