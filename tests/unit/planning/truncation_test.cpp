#include <limits>

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
