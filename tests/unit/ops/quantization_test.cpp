// Quantisation and the products of quantised operands, worked by hand.
#include "base/float_bits.h"
#include "tests/unit/ops/ops_testing.h"

namespace fusescope::testing {
namespace {

Tensor number(DataType type, double value) {
  return Tensor::copyOf<double>(DataType::F64, {}, std::span(&value, 1)).converted(type);
}
Tensor bytes(DataType type, Dims dims, const std::vector<std::int64_t>& values) {
  return Tensor::copyOf<std::int64_t>(DataType::I64, std::move(dims), values).converted(type);
}
Attributes outputType(std::int64_t type) {
  return {{"output_dtype", type}};
}

TEST(QuantizeLinear, TwoBitTypesRoundToEvenAndSaturate) {
  const Tensor x = floats({5}, {-3, -1, 0.5F, 1.5F, 2.5F});
  expectInts(run("QuantizeLinear", {x, number(DataType::F32, 1)}, outputType(26)), {5}, {-2, -1, 0, 1, 1});
  expectInts(run("QuantizeLinear", {x, number(DataType::F32, 0.5), number(DataType::U2, 2)}), {5}, {0, 0, 3, 3, 3});
}

TEST(QuantizeLinear, FloatTypesKeepFractions) {
  const Tensor x = floats({3}, {0.6F, 10, -14}), two = number(DataType::F32, 2);
  expectFloats(run("QuantizeLinear", {x, two}, outputType(23)), {3}, {0.5F, 4, -6});
  const Tensor large = floats({2}, {1e6F, -3});
  expectFloats(run("QuantizeLinear", {large, number(DataType::F32, 1)}, outputType(19)), {2}, {57344, -3});
  expectFloats(run("QuantizeLinear", {large, number(DataType::F32, 1)},
                   {{"output_dtype", std::int64_t{19}}, {"saturate", std::int64_t{0}}}),
               {2}, {INFINITY, -3});
  expectFloats(run("QuantizeLinear", {large, number(DataType::F32, 1)}, outputType(18)), {2}, {240, -3});
}

TEST(QuantizeLinear, TheDivisionIsDoneInTheAskedPrecision) {
  const Attributes half = {{"precision", std::int64_t{10}}};
  const Tensor odd = floats({1}, {2049});  // in float16 it is 2048
  expectInts(run("QuantizeLinear", {odd, number(DataType::F32, 1), number(DataType::U16, 0)}), {1}, {2049});
  expectInts(run("QuantizeLinear", {odd, number(DataType::F32, 1), number(DataType::U16, 0)}, half), {1}, {2048});
}

TEST(QuantizeLinear, Refusals) {
  const Tensor x = floats({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}), one = number(DataType::F32, 1);
  EXPECT_EQ(errorOf(run("QuantizeLinear", {x, one, number(DataType::I8, 0)}, outputType(2))),
            "node 'n': attribute 'output_dtype': is uint8, but the zero point is int8");
  EXPECT_EQ(errorOf(run("QuantizeLinear", {x, one}, outputType(1))),
            "node 'n': attribute 'output_dtype': quantising to f32 is not defined");
  EXPECT_EQ(errorOf(run("QuantizeLinear", {x, floats({3}, {1, 1, 1})})),
            "node 'n': the node has 3 scales, but the axis has extent 4");
  EXPECT_EQ(errorOf(run("QuantizeLinear", {x, floats({2, 2}, {1, 1, 1, 1})})),
            "node 'n': scales of extents [2, 2] need the attribute block_size");
  EXPECT_EQ(errorOf(run("QuantizeLinear", {x, floats({2, 2}, {1, 1, 1, 1})}, {{"block_size", std::int64_t{-2}}})),
            "node 'n': attribute 'block_size': is -2, but it must not be negative");
  EXPECT_EQ(errorOf(run("QuantizeLinear", {x, floats({2, 2}, {1, 1, 1, 1})},
                        {{"block_size", std::int64_t{3}}, {"axis", std::int64_t{9}}})),
            "node 'n': attribute 'axis': axis 9 is outside a tensor of rank 2");
}

TEST(DequantizeLinear, BlocksAlongAnAxis) {
  const Tensor x = bytes(DataType::I4, {1, 5}, {1, 2, 3, 4, -5});
  const auto result = run("DequantizeLinear", {x, floats({1, 3}, {1, 10, 100})}, {{"block_size", std::int64_t{2}}});
  expectFloats(result, {1, 5}, {1, 2, 30, 40, -500});
}

TEST(DequantizeLinear, ScalesThatArePowersOfTwoNeedAnOutputType) {
  const Tensor x = bytes(DataType::I8, {2}, {2, 3});
  const Tensor half = number(DataType::F32, 0.5).converted(DataType::F8E8M0);
  expectFloats(run("DequantizeLinear", {x, half}, outputType(1)), {2}, {1, 1.5F});
  EXPECT_EQ(errorOf(run("DequantizeLinear", {x, half})),
            "node 'n': attribute 'output_dtype': dequantising to f8e8m0 is not defined. Set it to the number of a "
            "float type of 16 bits or more.");
}

TEST(DequantizeLinear, FloatCodes) {
  const Tensor four = floats({3}, {0.5F, -6, 3}).converted(DataType::F4E2M1);
  expectFloats(run("DequantizeLinear", {four, number(DataType::F32, 2)}), {3}, {1, -12, 6});
  const Tensor eight = floats({2}, {-240, 0.5F}).converted(DataType::F8E4M3FNUZ);
  expectFloats(run("DequantizeLinear", {eight, number(DataType::F32, 2), number(DataType::F8E4M3FNUZ, 0)}), {2},
               {-480, 1});
}

TEST(MatMulInteger, ZeroPointsPerRowAndColumn) {
  const Tensor a = bytes(DataType::U8, {2, 2}, {1, 2, 3, 4}), b = bytes(DataType::I8, {2, 2}, {1, 0, 0, 1});
  expectInts(run("MatMulInteger", {a, b, bytes(DataType::U8, {2}, {1, 2}), Tensor()}), {2, 2}, {0, 1, 1, 2});
  // B less its zero points by column: {0, -2, -1, -1}
  expectInts(run("MatMulInteger", {a, b, Tensor(), bytes(DataType::I8, {2}, {1, 2})}), {2, 2}, {-2, -4, -4, -10});
  EXPECT_EQ(errorOf(run("MatMulInteger", {a, b, bytes(DataType::U8, {3}, {1, 2, 3}), Tensor()})),
            "node 'n': the scale or zero point at input 2 has extents [3], which do not fit [2, 2]");
}

TEST(QLinearMatMul, ScalesAndSaturates) {
  // (a - 1) = {0, 1, 2, 3}, b = {1, 2}: sums {2, 8}; * 0.5 * 2 / 0.25 = 4: {8, 32}; + 100.
  const Tensor a = bytes(DataType::U8, {2, 2}, {1, 2, 3, 4}), b = bytes(DataType::U8, {2, 1}, {1, 2});
  const std::vector<Tensor> inputs = {a,
                                      number(DataType::F32, 0.5),
                                      number(DataType::U8, 1),
                                      b,
                                      number(DataType::F32, 2),
                                      number(DataType::U8, 0),
                                      number(DataType::F32, 0.25),
                                      number(DataType::I8, 100)};
  expectInts(run("QLinearMatMul", inputs), {2, 1}, {108, 127});
}

TEST(ConvInteger, PadsWithTheZeroPoint) {
  const Tensor x = bytes(DataType::U8, {1, 1, 2, 2}, {1, 2, 3, 4}), w = bytes(DataType::I8, {1, 1, 2, 2}, {1, 1, 1, 1});
  const Attributes pads = {{"pads", std::vector<std::int64_t>{1, 0, 0, 0}}};
  expectInts(run("ConvInteger", {x, w, number(DataType::U8, 1)}, pads), {1, 1, 2, 1}, {1, 6});
  expectInts(run("ConvInteger", {x, w, Tensor(), bytes(DataType::I8, {1}, {2})}), {1, 1, 1, 1}, {-10});
}

TEST(QLinearConv, BiasIsAddedBeforeTheScales) {
  // x - 1 = {0, 1, 2, 3}, w - 1 = 2, bias 1: {1, 3, 5, 7} * 0.5 * 1 / 0.25 = {2, 6, 10, 14}; + 10.
  const std::vector<Tensor> inputs = {bytes(DataType::U8, {1, 1, 2, 2}, {1, 2, 3, 4}),
                                      number(DataType::F32, 0.5),
                                      number(DataType::U8, 1),
                                      bytes(DataType::I8, {1, 1, 1, 1}, {3}),
                                      floats({1}, {1}),
                                      bytes(DataType::I8, {1}, {1}),
                                      number(DataType::F32, 0.25),
                                      number(DataType::U8, 10),
                                      Tensor::copyOf<std::int32_t>(DataType::I32, {1}, std::vector<std::int32_t>{1})};
  expectInts(run("QLinearConv", inputs), {1, 1, 2, 2}, {12, 16, 20, 24});
}

TEST(DynamicQuantizeLinear, TheRangeHoldsZero) {
  const auto result = run("DynamicQuantizeLinear", {floats({3}, {1, 2, 5.1F})}, {}, 3);
  expectInts(result, {3}, {50, 100, 255});
  expectFloats(result, {}, {0.02F}, 1e-6F, 1);
  expectInts(result, {}, {0}, 2);
}

}  // namespace
}  // namespace fusescope::testing
