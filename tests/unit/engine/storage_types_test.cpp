// Types that networks store but do not compute in: what operators see of them when an engine runs.
#include <cmath>

#include "tests/unit/engine/engine_fixture.h"

namespace fusescope::testing {
namespace {

/// y = op(inputs) through an engine of `backend`; the inputs are those of the network.
Tensor runNodeIn(const std::string& backend, const std::string& op, const std::vector<Tensor>& inputs,
                 std::map<std::string, Attribute> attributes) {
  GraphEditor editor;
  std::map<std::string, Tensor> given;
  Node node{.op = op, .name = "node", .attributes = std::move(attributes)};
  for (const Tensor& tensor : inputs) {
    const std::string name = "x" + std::to_string(given.size());
    node.inputs.push_back(editor.addInput(name, typeOf(tensor)));
    given[name] = tensor;
  }
  const ValueId y = editor.addValue("y", {});
  node.outputs = {y};
  editor.addNode(std::move(node));
  editor.addOutput(y);
  const auto engine = engineOf(planOf(modelOf(editor)), {.backend = backend, .threads = 1, .measureTactics = false});
  auto result = engine->run(given);
  EXPECT_TRUE(result.ok()) << result.error().text();
  return result.ok() ? result.value().outputs.at("y") : Tensor();
}

class StorageTypes : public ::testing::TestWithParam<std::string> {};

TEST_P(StorageTypes, InfinitiesOfFloat8AreMovedAsTheyAre) {
  const Tensor x = Tensor::copyOf<std::uint8_t>(DataType::F8E5M2, {1, 3}, std::vector<std::uint8_t>{0x7c, 0xfc, 0x3c});
  const Tensor y = runNodeIn(GetParam(), "Transpose", {x}, {});
  EXPECT_TRUE(y.identical(x.reshaped({3, 1})));
}

TEST_P(StorageTypes, BitsOfNarrowFloatsAreReadAsTheyAre) {
  const Tensor x = floats({2}, {1.0F, -2.0F}).converted(DataType::F16);
  const Tensor y = runNodeIn(GetParam(), "BitCast", {x}, {{"to", std::int64_t{4}}});
  EXPECT_EQ(int64Values(y), (std::vector<std::int64_t>{0x3c00, 0xc000}));
}

TEST_P(StorageTypes, QuantisingRoundsOnceAtTheEnd) {
  // 25.5 / 0.75 = 34, half way between 32 and 36, goes to 32. Rounded to float8 first, 25.5 would be 26, and 34.67 36.
  const Tensor y = runNodeIn(GetParam(), "QuantizeLinear", {floats({2}, {25.5F, 1e6F}), floats({}, {0.75F})},
                             {{"output_dtype", std::int64_t{17}}, {"saturate", std::int64_t{0}}});
  ASSERT_EQ(y.type(), DataType::F8E4M3);
  EXPECT_EQ(y.asDouble(0), 32);
  EXPECT_TRUE(std::isnan(y.asDouble(1)));
}

TEST_P(StorageTypes, PackedElementsGoInAndOut) {
  const Tensor x = floats({3}, {0.5F, -6, 3}).converted(DataType::F4E2M1);
  const Tensor y = runNodeIn(GetParam(), "DequantizeLinear", {x, floats({}, {2}).converted(DataType::F16)}, {});
  ASSERT_EQ(y.type(), DataType::F16);
  EXPECT_EQ(y.asDouble(1), -12);
  const Tensor two = Tensor::ofInt64({-2, 1, 0, -1, 1}).converted(DataType::I2);
  EXPECT_TRUE(runNodeIn(GetParam(), "Identity", {two}, {}).identical(two));
}

TEST_P(StorageTypes, StatisticsOfANarrowNormalisationAreAsWideAsDeclared) {
  GraphEditor editor;
  const Tensor x = floats({1, 2}, {6e-8F, -6e-8F}).converted(DataType::F16);
  const ValueId scale = editor.addConstant("scale", floats({2}, {1, 1}).converted(DataType::F16));
  Node norm{.op = "LayerNormalization", .name = "norm", .attributes = {{"epsilon", 0.0F}}};
  norm.inputs = {editor.addInput("x", typeOf(x)), scale};
  norm.outputs = {editor.addValue("y", {}), editor.addValue("mean", {}), editor.addValue("inverse", {})};
  for (const ValueId output : norm.outputs) editor.addOutput(output);
  editor.addNode(std::move(norm));
  const auto engine = engineOf(planOf(modelOf(editor)), {.backend = GetParam(), .threads = 1, .measureTactics = false});
  auto result = engine->run({{"x", x}});
  ASSERT_TRUE(result.ok()) << result.error().text();
  const Tensor inverse = result.value().outputs.at("inverse");
  ASSERT_EQ(inverse.type(), DataType::F32);
  EXPECT_NEAR(inverse.asDouble(0) * x.asDouble(0), 1, 1e-3) << "1.7e7, which no f16 holds";
  EXPECT_EQ(result.value().outputs.at("mean").type(), DataType::F32);
}

INSTANTIATE_TEST_SUITE_P(Backends, StorageTypes, ::testing::Values("reference", "native"));

}  // namespace
}  // namespace fusescope::testing
