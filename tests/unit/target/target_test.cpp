#include "target/target.h"

#include <gtest/gtest.h>

#include "target/tensorrt_operators.h"

namespace fusescope {
namespace {

TEST(Target, CpuTakesItsCapabilitiesFromTheMachineOrTheName) {
  EXPECT_EQ(Target::fromName("cpu").value().capabilities, hostCapabilities());
  const Target named = Target::fromName("cpu:avx512_bf16+avx2").value();
  EXPECT_EQ(named.canonical(), "cpu:avx2+avx512_bf16");
  EXPECT_TRUE(named.hardwareTypes.contains(DataType::BF16));
  EXPECT_FALSE(named.hardwareTypes.contains(DataType::F16));
  EXPECT_TRUE(named.computeTypes.contains(DataType::F16)) << "emulated where the hardware lacks it";
  EXPECT_EQ(Target::fromName("cpu:none").value().canonical(), "cpu:none");
  EXPECT_EQ(named.acceleratedBackend, "native");
}

TEST(Target, TensorrtVersionsDifferInWhatTheyLack) {
  const Target eight = Target::fromName("tensorrt-8").value();
  EXPECT_TRUE(eight.lacksInt64 && eight.lacksFloat64 && eight.planningOnly);
  EXPECT_FALSE(eight.computeTypes.contains(DataType::BF16));
  const Target ten = Target::fromName("tensorrt-10").value();
  EXPECT_TRUE(!ten.lacksInt64 && ten.lacksFloat64);
  EXPECT_TRUE(ten.computeTypes.contains(DataType::BF16));
  EXPECT_TRUE(Target::fromName("tensorrt-11").ok());
}

TEST(Target, UnknownNamesListTheKnown) {
  EXPECT_NE(Target::fromName("gpu").error().help.find("tensorrt-10"), std::string::npos);
  EXPECT_NE(Target::fromName("cpu:avx3").error().help.find("avx512_vnni"), std::string::npos);
}

TEST(TensorrtOperators, KnowsWhatTheParserImports) {
  for (const char* op : {"Conv", "Gather", "LayerNormalization", "Softmax", "Where", "Xor", "Abs"}) {
    EXPECT_TRUE(tensorrtParses("tensorrt-8", op)) << op;
  }
  for (const char* op : {"BitShift", "Unique", "Det", "MaxUnpool", "SequenceAt", "StringConcat"}) {
    EXPECT_FALSE(tensorrtParses("tensorrt-10", op)) << op;
  }
  EXPECT_FALSE(tensorrtParses("tensorrt-8", "DeformConv"));
  EXPECT_TRUE(tensorrtParses("tensorrt-10", "DeformConv"));
}

Decision validated(const char* target, const char* op, DataType type) {
  GraphEditor editor;
  const ValueId x = editor.addInput("x", {type, Shape::of(Dims{2})});
  const ValueId y = editor.addValue("y", {type, Shape::of(Dims{2})});
  editor.addNode({.op = op, .name = "n", .inputs = {x}, .outputs = {y}});
  editor.addOutput(y);
  const auto graph = editor.publish().value();
  const TensorType* types[] = {&graph->value(x).type};
  return validateNode(Target::fromName(target).value(), *graph, graph->node(graph->order()[0]), types, types);
}

TEST(ValidateNode, AnswersWithACode) {
  EXPECT_EQ(validated("cpu:avx2", "Relu", DataType::F32).code, "validate.supported");
  EXPECT_EQ(validated("cpu:avx2", "Relu", DataType::F64).code, "validate.supported");
  EXPECT_EQ(validated("cpu:avx2", "Unheard", DataType::F32).code, "validate.no_kernel");
  EXPECT_EQ(validated("cpu:avx2", "Identity", DataType::String).code, "validate.type_not_supported");
  EXPECT_EQ(validated("cpu:avx2", "Relu", DataType::Undefined).code, "validate.type_unknown");
  EXPECT_EQ(validated("tensorrt-10", "Relu", DataType::F64).code, "validate.type_not_supported");
  EXPECT_EQ(validated("tensorrt-8", "Neg", DataType::I64).arguments["type"], "int64");
  EXPECT_EQ(validated("tensorrt-10", "Neg", DataType::I64).code, "validate.supported");
  EXPECT_EQ(validated("tensorrt-8", "Det", DataType::F32).code, "validate.operator_not_supported");
}

TEST(ValidateNode, LeavesContainersToTheFallback) {
  const auto body = parseGraph("graph \"b\" { input %s: sequence(f32[2]) output %s }").value();
  GraphEditor editor;
  const TensorType list{.dtype = DataType::F32, .shape = Shape::of(Dims{2}), .container = Container::Sequence};
  const ValueId x = editor.addInput("x", list);
  const ValueId c = editor.addInput("c", {DataType::Bool, Shape::of(Dims{})});
  const ValueId y = editor.addValue("y", list), n = editor.addValue("n", {DataType::F32, Shape::of(Dims{2})});
  editor.addNode({.op = "Identity", .name = "i", .inputs = {x}, .outputs = {y}});
  editor.addNode({.op = "If", .name = "n", .inputs = {c}, .outputs = {n}, .attributes = {{"b", Subgraph{body, {x}}}}});
  editor.addOutput(y);
  const auto graph = editor.publish().value();
  const TensorType* lists[] = {&list};
  const TensorType* condition[] = {&graph->value(c).type};
  const TensorType* result[] = {&graph->value(n).type};
  for (const char* target : {"cpu:avx2", "tensorrt-10"}) {
    const Decision decision =
        validateNode(Target::fromName(target).value(), *graph, graph->node(NodeId(0)), lists, lists);
    EXPECT_EQ(decision.code, "validate.type_not_supported") << target;
    EXPECT_EQ(decision.arguments["type"], "sequence(f32)") << target;
  }
  const Target tensorrt = Target::fromName("tensorrt-10").value();
  const Decision inside = validateNode(tensorrt, *graph, graph->node(NodeId(1)), condition, result);
  EXPECT_EQ(inside.code, "validate.type_not_supported") << "what a body holds counts too";
}

}  // namespace
}  // namespace fusescope
