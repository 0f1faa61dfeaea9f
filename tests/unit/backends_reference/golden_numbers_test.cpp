// What kernels leave in memory, worked out by hand from the rounding rule: a value is rounded where it stands in
// memory, where a node reads it from there, and where a contract narrows an inner edge; nowhere else.

#include <gtest/gtest.h>

#include <cmath>

#include "engine/engine.h"
#include "tests/unit/planning/plan_testing.h"

namespace fusescope {
namespace {

using testing::fusions;
using testing::ModelBuilder;
using testing::pin;

constexpr double kThirdF16 = 0.333251953125;  // 1365 / 4096
constexpr double kThirdBF16 = 0.333984375;    // 171 / 512
constexpr std::int64_t kToF32 = 1, kToF16 = 10;

Tensor floats(Dims dims, std::vector<float> values) {
  return Tensor::copyOf<float>(DataType::F32, std::move(dims), values);
}

Tensor bytes(Dims dims, std::vector<std::int8_t> values) {
  return Tensor::copyOf<std::int8_t>(DataType::I8, std::move(dims), values);
}

/// Plans, checks which kernels there are, runs on the reference; the elements of each output by name.
std::map<std::string, std::vector<double>> results(const ModelBuilder& builder, const PlanOptions& options,
                                                   const std::string& kernels,
                                                   const std::map<std::string, Tensor>& inputs) {
  const auto plan = testing::planned(ModelBuilder(builder).build(), options);
  EXPECT_EQ(fusions(*plan), kernels);
  auto engine = buildEngine(plan, {.backend = "reference", .threads = 1, .measureTactics = false});
  EXPECT_TRUE(engine.ok()) << (engine.ok() ? "" : engine.error().text());
  if (!engine.ok()) return {};
  const auto ran = engine.value()->run(inputs);
  EXPECT_TRUE(ran.ok()) << (ran.ok() ? "" : ran.error().text());
  std::map<std::string, std::vector<double>> all;
  if (!ran.ok()) return all;
  for (const auto& [name, tensor] : ran.value().outputs)
    for (std::int64_t i = 0; i < tensor.count(); ++i) all[name].push_back(tensor.asDouble(i));
  return all;
}

PlanOptions at(std::vector<DataType> precisions, Directives directives = {}) {
  return {.target = "cpu:avx2", .precisions = std::move(precisions), .directives = std::move(directives)};
}

using Numbers = std::vector<double>;

TEST(GoldenNumbers, ASumBeyondF16InsideAKernelIsHeld) {
  ModelBuilder b;
  const ValueId x = b.input("x", {1, 2, 1, 1}), w = b.constant("w", floats({1, 2, 1, 1}, {1, 1}));
  const ValueId sum = b.node("Conv", "conv", {x, w}, {1, 1, 1, 1});
  const ValueId scaled = b.node("Mul", "scale", {sum, b.constant("s", Tensor::scalar(0.25F))}, {1, 1, 1, 1});
  b.output(b.node("Relu", "relu", {scaled}, {1, 1, 1, 1}));
  const auto given =
      results(b, at({DataType::F16}), "conv{conv scale relu}", {{"x", floats({1, 2, 1, 1}, {60000, 60000})}});
  EXPECT_EQ(given.at("relu_out"), Numbers{30000});
  const auto apart = results(b, at({DataType::F16}, {splitDirective("conv")}), "conv{conv} pointwise{scale relu}",
                             {{"x", floats({1, 2, 1, 1}, {60000, 60000})}});
  EXPECT_EQ(apart.at("relu_out"), Numbers{HUGE_VAL}) << "120,000 in memory is infinite";
}

TEST(GoldenNumbers, AttentionNarrowsProbabilitiesForTheSecondProduct) {
  ModelBuilder b;
  const ValueId q = b.input("q", {1, 1, 1}), k = b.input("k", {1, 1, 2}), v = b.input("v", {1, 2, 1});
  const ValueId scores = b.node("MatMul", "scores", {q, k}, {1, 1, 2});
  const ValueId p = b.node("Softmax", "softmax", {scores}, {1, 1, 2}, DataType::F32, {{"axis", std::int64_t{-1}}});
  b.output(b.node("MatMul", "product", {p, v}, {1, 1, 1}));
  constexpr double kRatio = 1507.0 / 4096;  // f16; about the ratio of the probabilities
  const auto given = results(b, at({DataType::F16}), "attention{scores softmax product}",
                             {{"q", floats({1, 1, 1}, {1})},
                              {"k", floats({1, 1, 2}, {0, 1})},
                              {"v", floats({1, 2, 1}, {1, static_cast<float>(-kRatio)})}});
  // 1/(1+e) and e/(1+e) as f16 are 1102/4096 and 1497/2048; unrounded they would give -3e-5.
  const double wanted = 1102.0 / 4096 - 1497.0 / 2048 * kRatio;
  EXPECT_NEAR(given.at("product_out")[0], wanted, std::ldexp(1.0, -24));
  EXPECT_GT(wanted, 0);
}

TEST(GoldenNumbers, AConvAtF16AddsItsResidualAtF32) {
  ModelBuilder b;
  const ValueId x = b.input("x", {1, 1, 1, 1}), r = b.input("r", {1, 1, 1, 1});
  const ValueId y = b.node("Conv", "conv", {x, b.constant("w", floats({1, 1, 1, 1}, {1}))}, {1, 1, 1, 1});
  b.output(b.node("Add", "add", {y, r}, {1, 1, 1, 1}));
  const Tensor third = floats({1, 1, 1, 1}, {1.0F / 3});
  const auto given = results(b, at({}, {pin("conv=f16:obey")}), "conv{conv add}", {{"x", third}, {"r", third}});
  EXPECT_EQ(given.at("add_out"), Numbers{static_cast<float>(kThirdF16) + 1.0F / 3});
}

/// x + 1, then − 2048.
ModelBuilder aroundTheSpacing(bool isReal) {
  ModelBuilder b;
  const ValueId sum = b.node("Add", "add", {b.input("x", {1}), b.constant("one", Tensor::scalar(1))}, {1});
  if (isReal) b.output(sum);
  b.output(b.node("Sub", "sub", {sum, b.constant("c", Tensor::scalar(2048))}, {1}));
  return b;
}

TEST(GoldenNumbers, AnInnerEdgeIsRoundedIfItStandsInMemory) {
  const std::map<std::string, Tensor> x{{"x", floats({1}, {2048})}};
  EXPECT_EQ(results(aroundTheSpacing(false), at({DataType::F16}), "pointwise{add sub}", x).at("sub_out"), Numbers{1});
  const auto real = results(aroundTheSpacing(true), at({DataType::F16}), "pointwise{add sub}", x);
  EXPECT_EQ(real.at("add_out"), Numbers{2048}) << "2049 lies between two numbers of f16";
  EXPECT_EQ(real.at("sub_out"), Numbers{0});
}

TEST(GoldenNumbers, ACastOfTheAuthorRoundsInsideAKernelToo) {
  const auto network = [](bool isReal) {
    ModelBuilder b;
    const ValueId sum = b.node("Add", "add", {b.input("x", {1}), b.constant("one", Tensor::scalar(1))}, {1});
    const ValueId narrow = b.node("Cast", "narrow", {sum}, {1}, DataType::F16, {{"to", kToF16}});
    if (isReal) b.output(narrow);
    const ValueId wide = b.node("Cast", "wide", {narrow}, {1}, DataType::F32, {{"to", kToF32}});
    b.output(b.node("Sub", "sub", {wide, b.constant("c", Tensor::scalar(2048))}, {1}));
    return b;
  };
  const std::map<std::string, Tensor> x{{"x", floats({1}, {2048})}};
  for (const bool isReal : {false, true})
    EXPECT_EQ(results(network(isReal), at({}), "pointwise{add narrow wide sub}", x).at("sub_out"), Numbers{0})
        << (isReal ? "the edge between the Casts stands in memory" : "the kernel holds it");
}

/// int8 x and w of scale 0.5, conv, then a quantiser of scale 0.1 whose least code stands for 0: it does what a ReLU
/// did.
ModelBuilder quantisedConv(bool isReal) {
  ModelBuilder b;
  const Dims dims{1, 1, 1, 2};
  const ValueId half = b.constant("half", Tensor::scalar(0.5F)), tenth = b.constant("tenth", Tensor::scalar(0.1F));
  const ValueId zero = b.constant("zero", bytes({}, {0})), least = b.constant("least", bytes({}, {-128}));
  const ValueId x = b.node("DequantizeLinear", "xd", {b.input("x", dims, DataType::I8), half, zero}, dims);
  const ValueId w =
      b.node("DequantizeLinear", "wd", {b.constant("w", bytes({1, 1, 1, 1}, {3})), half, zero}, {1, 1, 1, 1});
  const ValueId y = b.node("Conv", "conv", {x, w}, dims);
  const ValueId q = b.node("QuantizeLinear", "q", {y, tenth, least}, dims, DataType::I8);
  if (isReal) {
    b.output(q);
  } else {
    b.output(b.node("DequantizeLinear", "d", {q, tenth, least}, dims));
  }
  return b;
}

TEST(GoldenNumbers, AQuantiserClampsInPlaceOfAReluInnerAndReal) {
  // 7 · 0.5 · 3 · 0.5 = 5.25: 52.5 rounds to 52; −5.25 clamps.
  const std::map<std::string, Tensor> x{{"x", bytes({1, 1, 1, 2}, {7, -7})}};
  const auto inner = results(quantisedConv(false), at({}), "conv{xd wd conv q d}", x);
  EXPECT_FLOAT_EQ(static_cast<float>(inner.at("d_out")[0]), 5.2F);
  EXPECT_EQ(inner.at("d_out")[1], 0);
  EXPECT_EQ(results(quantisedConv(true), at({}), "conv{xd wd conv q}", x).at("q_out"), (Numbers{52 - 128, -128}));
}

TEST(GoldenNumbers, QuantisersSaturateAndRoundTiesToEven) {
  ModelBuilder b;
  const ValueId one = b.constant("one", Tensor::scalar(1)), zero = b.constant("zero", bytes({}, {0}));
  b.output(b.node("QuantizeLinear", "q", {b.input("x", {5}), one, zero}, {5}, DataType::I8));
  const auto given = results(b, at({}), "quantize{q}", {{"x", floats({5}, {1000, -1000, 2.5F, 3.5F, -0.5F})}});
  EXPECT_EQ(given.at("q_out"), (Numbers{127, -128, 2, 4, 0}));
}

TEST(GoldenNumbers, EdgesOfEightBitFloatsHoldWhatTheTypesHold) {
  const auto network = [](DataType type) {
    ModelBuilder b;
    const ValueId one = b.constant("one", Tensor::scalar(1)),
                  zero = b.constant("zero", Tensor::scalar(0).converted(type));
    const ValueId q = b.node("QuantizeLinear", "q", {b.input("x", {3}), one, zero}, {3}, type);
    b.output(b.node("DequantizeLinear", "d", {q, one, zero}, {3}));
    return b;
  };
  const std::map<std::string, Tensor> x{{"x", floats({3}, {0.35F, -17, 1000000})}};
  // Spacings of 2^-5 and 2 in one type, of 2^-4 and 4 in the other; the largest are 448 and 57,344.
  const auto kernels = "quantize{q} quantize{d}";
  EXPECT_EQ(results(network(DataType::F8E4M3), at({}), kernels, x).at("d_out"), (Numbers{0.34375, -16, 448}));
  EXPECT_EQ(results(network(DataType::F8E5M2), at({}), kernels, x).at("d_out"), (Numbers{0.375, -16, 57344}));
}

TEST(GoldenNumbers, AReductionAtF16SumsInF32) {
  ModelBuilder b;
  const ValueId axes = b.constant("axes", Tensor::ofInt64({0}));
  b.output(b.node("ReduceSum", "sum", {b.input("x", {4}), axes}, {1}));
  const auto given = results(b, at({DataType::F16}), "reduce{sum}", {{"x", floats({4}, {2048, 1, 1, 1.0F / 3})}});
  EXPECT_EQ(given.at("sum_out"), Numbers{2050}) << "sums in f16 stay at 2048";
}

TEST(GoldenNumbers, AProductAtBF16ReadsSumsAndStoresAsTheRuleSays) {
  ModelBuilder b;
  const ValueId w = b.constant("w", floats({2, 1}, {1, 1.0F / 3}));
  b.output(b.node("MatMul", "product", {b.input("x", {1, 2}), w}, {1, 1}));
  const auto given = results(b, at({DataType::BF16}), "matmul{product}", {{"x", floats({1, 2}, {257, 3})}});
  // 257 is read as 256; 256 + 3 · 0.333984375 = 257.00195 lies nearer to 258 than to 256.
  EXPECT_GT(256 + 3 * kThirdBF16, 257);
  EXPECT_EQ(given.at("product_out"), Numbers{258});
}

TEST(GoldenNumbers, AGatherMovesWhatItsReaderReads) {
  ModelBuilder b;
  const ValueId indices = b.constant("indices", Tensor::ofInt64({1, 0}));
  const ValueId picked = b.node("Gather", "gather", {b.input("x", {2}), indices}, {2});
  b.output(picked);
  b.output(b.node("Neg", "neg", {picked}, {2}));
  const auto given =
      results(b, at({DataType::F16}), "gather{gather} pointwise{neg}", {{"x", floats({2}, {1.0F / 3, 2049})}});
  EXPECT_EQ(given.at("gather_out"), (Numbers{2049, 1.0F / 3})) << "an output of the network that is only moved";
  EXPECT_EQ(given.at("neg_out"), (Numbers{-2048, -kThirdF16}));
}

TEST(GoldenNumbers, AConcatHoldsItsPartsAsWideAsTheyAreMade) {
  ModelBuilder b;
  const ValueId narrow = b.node("Neg", "narrow", {b.input("x", {1})}, {1});
  const ValueId wide = b.node("Neg", "wide", {b.input("y", {1})}, {1});
  b.output(b.node("Concat", "concat", {narrow, wide}, {2}, DataType::F32, {{"axis", std::int64_t{0}}}));
  const Tensor third = floats({1}, {1.0F / 3});
  const auto given = results(b, at({}, {pin("narrow=f16:obey")}), "pointwise{narrow} pointwise{wide} concat{concat}",
                             {{"x", third}, {"y", third}});
  EXPECT_EQ(given.at("concat_out"), (Numbers{-kThirdF16, -(1.0F / 3)}));
}

TEST(GoldenNumbers, AViewOfAConstantExtentMovesNothingIntoMemory) {
  ModelBuilder b;
  const ValueId product =
      b.node("MatMul", "product", {b.input("x", {1, 2}), b.constant("w", floats({2, 1}, {1, 1}))}, {1, 1});
  const ValueId view = b.node("Reshape", "view", {product, b.constant("shape", Tensor::ofInt64({1}))}, {1});
  b.output(b.node("Sub", "sub", {view, b.constant("c", Tensor::scalar(2048))}, {1}));
  const auto given = results(b, at({DataType::F16}), "matmul{product view sub}", {{"x", floats({1, 2}, {2048, 1})}});
  EXPECT_EQ(given.at("sub_out"), Numbers{1}) << "2049 is inner; only the view's extents come from memory";
}

}  // namespace
}  // namespace fusescope
