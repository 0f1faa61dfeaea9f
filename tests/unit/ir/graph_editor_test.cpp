#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/json.h"
#include "ir/decision.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

const TensorType kVector{DataType::F32, Shape::of(Dims{4})};

Node unary(const std::string& op, const std::string& name, ValueId in, ValueId out) {
  Node node;
  node.op = op;
  node.name = name;
  node.inputs = {in};
  node.outputs = {out};
  return node;
}

TEST(GraphEditor, PublishOrdersProducersFirstAndFindsConsumers) {
  GraphEditor editor;
  const ValueId x = editor.addInput("x", kVector), a = editor.addValue("a", kVector), b = editor.addValue("b", kVector);
  const NodeId second = editor.addNode(unary("Exp", "second", a, b));
  const NodeId first = editor.addNode(unary("Relu", "first", x, a));
  editor.addOutput(b);
  const auto graph = editor.publish();
  ASSERT_TRUE(graph.ok()) << graph.error().text();
  EXPECT_EQ(graph.value()->order(), (std::vector<NodeId>{first, second}));
  EXPECT_EQ(graph.value()->value(a).consumers, std::vector<NodeId>{second});
  EXPECT_EQ(graph.value()->findNode("second"), second);
}

TEST(GraphEditor, ACycleIsAnErrorAtANodeOfIt) {
  GraphEditor editor;
  const ValueId a = editor.addValue("a", kVector), b = editor.addValue("b", kVector);
  editor.addNode(unary("Relu", "one", a, b));
  editor.addNode(unary("Relu", "two", b, a));
  editor.addOutput(b);
  const auto graph = editor.publish();
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.error().where.node, "one");
  EXPECT_NE(graph.error().message.find("cycle"), std::string::npos);
}

TEST(GraphEditor, AValueThatNothingProducesIsAnError) {
  GraphEditor editor;
  const ValueId a = editor.addValue("a", kVector), b = editor.addValue("b", kVector);
  editor.addNode(unary("Relu", "one", a, b));
  editor.addOutput(b);
  const auto graph = editor.publish();
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.error().where.value, "a");
}

TEST(GraphEditor, IdsStayWhenANodeGoes) {
  GraphEditor editor;
  const ValueId x = editor.addInput("x", kVector), a = editor.addValue("a", kVector), b = editor.addValue("b", kVector);
  const NodeId identity = editor.addNode(unary("Identity", "identity", x, a));
  const NodeId relu = editor.addNode(unary("Relu", "relu", a, b));
  editor.addOutput(b);
  editor.replaceUses(a, x);
  editor.removeNode(identity);
  editor.removeValue(a);
  const auto graph = editor.publish();
  ASSERT_TRUE(graph.ok()) << graph.error().text();
  EXPECT_EQ(graph.value()->order(), std::vector<NodeId>{relu});
  EXPECT_FALSE(graph.value()->has(identity));
  EXPECT_EQ(graph.value()->node(relu).inputs, std::vector<ValueId>{x});
}

TEST(GraphEditor, TakenNamesGetANumber) {
  GraphEditor editor;
  const ValueId x = editor.addInput("x", kVector);
  for (int i = 0; i < 3; ++i) editor.addOutput(editor.addValue("y", kVector));
  for (const ValueId y : std::vector(editor.current().outputs())) editor.addNode(unary("Relu", "relu", x, y));
  const auto graph = editor.publish();
  ASSERT_TRUE(graph.ok());
  EXPECT_TRUE(graph.value()->findNode("relu#3"));
  EXPECT_TRUE(graph.value()->findValue("y#2"));
}

TEST(Tensors, ConversionRoundsFloatsAndTruncatesToIntegers) {
  const Tensor values = Tensor::copyOf<float>(DataType::F32, {4}, std::vector<float>{-1.7F, 70000.0F, 0.1F, NAN});
  EXPECT_EQ(values.converted(DataType::I32).data<std::int32_t>()[0], -1);
  EXPECT_TRUE(std::isinf(values.converted(DataType::F16).asDouble(1)));
  EXPECT_NEAR(values.converted(DataType::BF16).asDouble(2), 0.1, 4e-4);
  EXPECT_EQ(values.converted(DataType::Bool).asInt64(3), 1);
  EXPECT_EQ(values.converted(DataType::F8E4M3).asDouble(0), -1.75);
}

TEST(Tensors, FourBitElementsPackTwoToAByte) {
  const Tensor packed = Tensor::ofInt64({-8, 7, 3}).converted(DataType::I4);
  EXPECT_EQ(packed.byteSize(), 2U);
  EXPECT_EQ(int64Values(packed), (std::vector<std::int64_t>{-8, 7, 3}));
}

TEST(Tensors, TwoBitElementsPackFourToAByte) {
  const Tensor packed = Tensor::ofInt64({-2, 1, 0, -1, 1}).converted(DataType::I2);
  ASSERT_EQ(packed.byteSize(), 2U);
  EXPECT_EQ(packed.bytes()[0], std::byte{0b11'00'01'10});
  EXPECT_EQ(packed.bytes()[1], std::byte{0b01});
  EXPECT_EQ(int64Values(packed), (std::vector<std::int64_t>{-2, 1, 0, -1, 1}));
  EXPECT_EQ(int64Values(Tensor::ofInt64({3, 5, 2}).converted(DataType::U2)), (std::vector<std::int64_t>{3, 1, 2}));
}

TEST(Tensors, SixBitElementsAreAStreamOfBits) {
  const Tensor values = Tensor::copyOf<float>(DataType::F32, {5}, std::vector<float>{1.0F, -7.5F, 0.125F, -0.0F, 2.0F});
  const Tensor packed = values.converted(DataType::F6E2M3);  // codes 001000 111111 000001 100000 010000
  ASSERT_EQ(packed.byteSize(), 4U);
  EXPECT_EQ(packed.bytes()[0], std::byte{0b11'001000});
  EXPECT_EQ(packed.bytes()[1], std::byte{0b0001'1111});
  EXPECT_EQ(packed.bytes()[2], std::byte{0b100000'00});
  EXPECT_EQ(packed.bytes()[3], std::byte{0b010000});
  EXPECT_TRUE(packed.converted(DataType::F32).identical(values));
}

TEST(Tensors, FourBitFloatsPackTwoToAByte) {
  const Tensor values = Tensor::copyOf<float>(DataType::F32, {3}, std::vector<float>{0.5F, -6.0F, 3.0F});
  const Tensor packed = values.converted(DataType::F4E2M1);
  ASSERT_EQ(packed.byteSize(), 2U);
  EXPECT_EQ(packed.bytes()[0], std::byte{0xf1});
  EXPECT_EQ(packed.bytes()[1], std::byte{0x05});
  EXPECT_TRUE(packed.converted(DataType::F32).identical(values));
}

TEST(Tensors, Float8WithoutInfinitiesConvertsBothWays) {
  const Tensor values = Tensor::copyOf<float>(DataType::F32, {4}, std::vector<float>{0.0F, -1.0F, 1000.0F, NAN});
  const Tensor narrow = values.converted(DataType::F8E4M3FNUZ);
  EXPECT_EQ(narrow.asDouble(1), -1.0);
  EXPECT_EQ(narrow.asDouble(2), 240.0);
  EXPECT_EQ(narrow.data<std::uint8_t>()[3], 0x80);
  EXPECT_EQ(narrow.asInt64(1), -1);
  EXPECT_EQ(values.converted(DataType::F8E5M2FNUZ).asDouble(2), 1024.0);
}

TEST(Decisions, EveryCodeIsUniqueAndBelongsToItsKind) {
  std::set<std::string_view> seen;
  for (const DecisionCode& entry : decisionCatalogue()) {
    EXPECT_TRUE(seen.insert(entry.code).second) << entry.code << " stands twice";
    EXPECT_TRUE(entry.code.starts_with(std::string(name(entry.kind)) + ".")) << entry.code;
    EXPECT_FALSE(entry.sentence.empty()) << entry.code;
  }
  EXPECT_GT(seen.size(), 20U);
}

TEST(Decisions, MessagesFillInArgumentsAndJsonRoundTrips) {
  const Decision decision = decide("import.initializer_repeated", {Subject::value("x")}, "import", {{"value", "x"}});
  EXPECT_EQ(message(decision), "x is in the file twice, with equal elements; it is read as one value");
  const auto back = decisionFromJson(toJson(decision));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back.value(), decision);
  EXPECT_FALSE(decisionFromJson(Json{{"code", "fuse.no_such_code"}}).ok());
}

}  // namespace
}  // namespace fusescope
