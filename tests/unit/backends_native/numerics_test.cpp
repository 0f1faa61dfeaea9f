// What tactics say of their numbers, held against what they do: denormal numbers, and sums of products of bytes at the
// ends of their range. A tactic that says nothing is exact; one that says something does it.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "tests/unit/backends_native/tactic_testing.h"

namespace fusescope::testing {
namespace {

constexpr double kTolerance = 1e-4;

/// Floats far below the smallest normal number.
Tensor denormals(DataType type, const Dims& dims, std::uint32_t seed) {
  if (type != DataType::F32 && type != DataType::BF16) return randomTensor(type, dims, seed);
  Tensor tensor = randomTensor(DataType::F32, dims, seed);
  for (float& value : tensor.mutableData<float>()) value *= 1e-39F;
  return tensor.converted(type);
}

/// Floats whose exponentials are denormal, also compared with that of 0: the first of each eleven.
Tensor farApart(DataType type, const Dims& dims, std::uint32_t seed) {
  Tensor tensor = randomTensor(type, dims, seed);
  if (type != DataType::F32) return tensor;
  std::size_t i = 0;
  for (float& value : tensor.mutableData<float>()) value = i++ % 11 == 0 ? 0 : -94 + 4 * value;
  return tensor;
}

/// Fails the test where a tactic does not do as it says, and says how many of ours ran.
int expectTruth(Net& net, ValueId result, const TensorMaker& inputs, const MemoryFormat& delivered = {}) {
  net.editor.addOutput(result);
  int own = 0;
  for (const TacticOutcome& outcome : tryAllTactics(*planned(net.editor), delivered, 2, inputs)) {
    EXPECT_EQ(outcome.problem, "") << outcome.tactic;
    EXPECT_EQ(outcome.flushed, outcome.numerics.flushes) << outcome.tactic << " of " << outcome.fusedNode;
    EXPECT_FALSE(outcome.numerics.saturates) << outcome.tactic;
    EXPECT_LE(outcome.flushed ? 0 : outcome.worst, kTolerance) << outcome.tactic << " of " << outcome.fusedNode;
    own += outcome.tactic != "reference";
  }
  return own;
}

TEST(Numerics, ConvolutionsKeepDenormals) {
  for (const std::int64_t groups : {1, 32}) {
    Net net;
    const ValueId x = net.input({1, 32, 9, 9});
    const ValueId conv =
        net.add("Conv", {x, net.weights({32, 32 / groups, 3, 3})}, {{"group", groups}, {"pads", Ints{1, 1, 1, 1}}});
    EXPECT_GE(expectTruth(net, net.add("Relu", {conv}), denormals), 2);
  }
  Net net;
  EXPECT_GE(expectTruth(net, net.add("Conv", {net.input({1, 32, 9, 9}), net.weights({48, 32, 1, 1})}), denormals), 2);
  Net turned;
  const ValueId wide = turned.input({1, 16, 5, 5});
  EXPECT_GE(expectTruth(turned, turned.add("ConvTranspose", {wide, turned.weights({16, 16, 3, 3})}), denormals), 1);
}

/// Where instructions for bf16 multiply, or bring it into another format, denormals are lost: nothing does so unsaid.
TEST(Numerics, NarrowConvolutionsSayThatTheyLoseDenormals) {
  Net net;
  ValueId at = net.input({1, 16, 32, 32});
  for (int i = 0; i < 3; ++i)
    at = net.add("Relu", {net.add("Conv", {at, net.weights({16, 16, 3, 3})}, {{"pads", Ints{1, 1, 1, 1}}})});
  net.editor.addOutput(at);
  int tried = 0;
  for (const TacticOutcome& outcome :
       tryAllTactics(*planned(net.editor, {.precisions = {DataType::BF16}}), {}, 2, denormals)) {
    EXPECT_EQ(outcome.problem, "") << outcome.tactic;
    EXPECT_TRUE(outcome.numerics.flushes || !outcome.flushed) << outcome.tactic;
    ++tried;
  }
  EXPECT_GE(tried, 3);
}

TEST(Numerics, ProductsKeepDenormals) {
  for (const std::int64_t rows : {1, 5, 70}) {
    Net net;
    EXPECT_GE(expectTruth(net, net.add("MatMul", {net.input({rows, 64}), net.weights({64, 48})}), denormals), 1);
    Net gemm;
    const std::vector<ValueId> operands{gemm.input({rows, 64}), gemm.weights({64, 48})};
    EXPECT_GE(expectTruth(gemm, gemm.add("Gemm", operands, {{"alpha", 0.5F}}), denormals), 1);
  }
}

TEST(Numerics, ElementsKeepDenormals) {
  for (const char* op : {"Abs", "Neg", "Relu", "Identity"}) {
    Net net;
    const ValueId sum = net.add("Add", {net.input({3, 70}), net.input({3, 70})});
    EXPECT_GE(expectTruth(net, net.add("Mul", {net.add(op, {sum}), net.number(0.75F)}), denormals), 1) << op;
  }
  for (const char* op : {"Max", "Min", "Sub"}) {
    Net net;
    EXPECT_GE(expectTruth(net, net.add(op, {net.input({3, 70}), net.input({70})}), denormals), 1) << op;
  }
}

TEST(Numerics, RowsAndWindowsKeepDenormals) {
  for (const char* op : {"ReduceSum", "ReduceMean", "ReduceMax"}) {
    Net net;
    EXPECT_GE(expectTruth(net, net.add(op, {net.input({3, 5, 70}), net.ints({2})}), denormals), 1) << op;
  }
  for (const char* op : {"MaxPool", "AveragePool"}) {
    Net net;
    EXPECT_GE(expectTruth(net, net.add(op, {net.input({1, 32, 8, 8})}, {{"kernel_shape", Ints{2, 2}}}), denormals,
                          MemoryFormat::blockedChannels(4, 16)),
              2)
        << op;
  }
  Net net;
  const ValueId normed = net.add("BatchNormalization", {net.input({1, 32, 5, 5}), net.weights({32}), net.weights({32}),
                                                        net.weights({32}), net.positive({32})});
  EXPECT_GE(expectTruth(net, normed, denormals, MemoryFormat::channelsLast(4)), 1);
}

TEST(Numerics, MovesKeepDenormals) {
  Net concat;
  EXPECT_GE(expectTruth(concat,
                        concat.add("Concat", {concat.input({1, 16, 5, 5}), concat.input({1, 32, 5, 5})},
                                   {{"axis", std::int64_t{1}}}),
                        denormals, MemoryFormat::blockedChannels(4, 16)),
            2);
  Net turned;
  EXPECT_GE(
      expectTruth(turned, turned.add("Transpose", {turned.input({5, 7, 9})}, {{"perm", Ints{2, 0, 1}}}), denormals), 1);
  Net resized;
  const ValueId x = resized.input({1, 16, 5, 5});
  EXPECT_GE(
      expectTruth(resized, resized.add("Resize", {x, ValueId(), resized.numbers({1, 1, 2, 2})}, {{"mode", "linear"}}),
                  denormals),
      1);
}

TEST(Numerics, ExponentialsThatAreDenormal) {
  for (const char* op : {"Exp", "Sigmoid", "Softmax"}) {
    Net net;
    EXPECT_GE(expectTruth(net, net.add(op, {net.input({6, 77})}), farApart), 1) << op;
  }
  // The scores are what the first operand is: the second is the unit matrix.
  Net net;
  Tensor unit = Tensor::zeros(DataType::F32, {1, 2, 16, 16});
  for (std::size_t i = 0; i < 2 * 16 * 16; ++i) unit.mutableData<float>()[i] = i % 256 % 17 == 0 ? 1.0F : 0.0F;
  const ValueId scores = net.add("MatMul", {net.input({1, 2, 16, 16}), net.editor.addConstant("unit", unit)});
  const ValueId shares = net.add("Softmax", {scores}, {{"axis", std::int64_t{-1}}});
  EXPECT_GE(expectTruth(net, net.add("MatMul", {shares, net.editor.addConstant("one", unit)}), farApart), 1);
}

/// Every code the least or the most of its type: all products of one sign.
TEST(Numerics, SumsOfBytesAtTheEndsOfTheirRangeAreExact) {
  for (const DataType aType : {DataType::U8, DataType::I8})
    for (const DataType bType : {DataType::U8, DataType::I8})
      for (const bool isMost : {false, true}) {
        const auto ends = [&](DataType type, const Dims& dims, std::uint32_t seed) {
          Tensor tensor = randomTensor(type, dims, seed);
          if (type != DataType::U8 && type != DataType::I8) return tensor;
          const int most = type == DataType::U8 ? 255 : 127, least = type == DataType::U8 ? 255 : -128;
          std::ranges::fill(std::span(tensor.mutableBytes(), tensor.byteSize()),
                            static_cast<std::byte>(isMost ? most : least));
          return tensor;
        };
        Net product;
        const ValueId b = product.editor.addConstant("b", ends(bType, {515, 70}, 1));
        EXPECT_GE(expectTruth(product, product.add("MatMulInteger", {product.input({7, 515}, aType), b}), ends), 1);
        Net conv;
        const ValueId filters = conv.editor.addConstant("f", ends(bType, {20, 33, 3, 3}, 1));
        EXPECT_GE(expectTruth(conv, conv.add("ConvInteger", {conv.input({1, 33, 6, 6}, aType), filters}), ends), 1);
      }
}

}  // namespace
}  // namespace fusescope::testing
