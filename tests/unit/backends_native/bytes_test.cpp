// Products, convolutions and quantisation of bytes by the native backend against the reference: sums are equal to the
// last bit.
#include <gtest/gtest.h>

#include "ir/graph.h"
#include "tests/unit/backends_native/tactic_testing.h"

namespace fusescope::testing {
namespace {

constexpr double kExact = 0;

struct ConvForm {
  Dims x, filters;
  Ints strides{1, 1}, dilations{1, 1}, pads{0, 0, 0, 0};
  std::int64_t groups = 1;
  DataType xType = DataType::U8, filterType = DataType::U8;
  bool xZero = true, filterZero = true, perChannel = false;
};

ValueId convolved(Net& net, const ConvForm& form) {
  const ValueId x = net.input(form.x, form.xType), filters = net.codes(form.filters, form.filterType);
  const ValueId xZero = form.xZero ? net.input({}, form.xType) : ValueId();
  const Dims zeros = form.perChannel ? Dims{form.filters[0]} : Dims{};
  const ValueId filterZero = form.filterZero ? net.codes(zeros, form.filterType) : ValueId();
  return net.add(
      "ConvInteger", {x, filters, xZero, filterZero},
      {{"strides", form.strides}, {"dilations", form.dilations}, {"pads", form.pads}, {"group", form.groups}});
}

TEST(Bytes, ConvolutionsAreExactInEveryForm) {
  for (const ConvForm& form :
       {ConvForm{{1, 3, 8, 9}, {5, 3, 3, 3}}, ConvForm{{2, 4, 7, 30}, {30, 4, 1, 1}},
        ConvForm{{1, 5, 12, 40}, {7, 5, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
        ConvForm{{1, 1, 16, 33}, {24, 1, 3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}},
        ConvForm{{1, 6, 20, 25}, {10, 6, 5, 3}, {3, 2}, {2, 3}, {2, 0, 1, 4}},
        ConvForm{{2, 8, 9, 9}, {12, 2, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 4},
        ConvForm{{1, 4, 5, 70}, {9, 4, 3, 3}, {1, 3}, {1, 1}, {1, 2, 1, 2}, 1, DataType::I8, DataType::I8},
        ConvForm{{1, 4, 6, 6}, {8, 4, 2, 2}, {2, 2}, {1, 1}, {0, 0, 0, 0}, 1, DataType::U8, DataType::I8, true, false},
        ConvForm{
            {1, 4, 7, 7}, {8, 4, 3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, 1, DataType::I8, DataType::U8, false, true, true},
        ConvForm{{1, 60, 10, 20}, {130, 60, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}}}) {
    SCOPED_TRACE(std::to_string(form.filters[0]) + " filters of " + std::to_string(form.x[3]));
    Net net;
    expectOwnKernels(net, convolved(net, form));
    Net again;
    EXPECT_GT(again.check(convolved(again, form), MemoryFormat(), kExact), 0);
  }
}

ValueId multiplied(Net& net, const Dims& a, const Dims& b, DataType aType, DataType bType, bool perColumn) {
  const ValueId zeroB = net.codes(perColumn ? Dims{b.back()} : Dims{}, bType);
  return net.add("MatMulInteger", {net.input(a, aType), net.codes(b, bType), net.input({}, aType), zeroB});
}

TEST(Bytes, ProductsAreExactInEveryForm) {
  int forms = 0;
  for (const Dims& a : {Dims{1, 40}, Dims{24, 40}, Dims{2, 3, 40}, Dims{40}})
    for (const DataType aType : {DataType::U8, DataType::I8})
      for (const DataType bType : {DataType::U8, DataType::I8}) {
        Net net;
        EXPECT_GT(net.check(multiplied(net, a, {40, 130}, aType, bType, forms % 2 == 0), MemoryFormat(), kExact), 0);
        ++forms;
      }
  Net net;
  EXPECT_GT(net.check(multiplied(net, {9, 700}, {700, 300}, DataType::U8, DataType::U8, false), MemoryFormat(), kExact),
            0);
  EXPECT_EQ(forms, 16);
}

/// One scale, or one for each channel.
ValueId scaleOf(Net& net, float value, std::int64_t channels, bool each) {
  if (!each) return net.number(value);
  std::vector<float> values;
  for (std::int64_t i = 0; i < channels; ++i) values.push_back(value * (1.0F + 0.1F * static_cast<float>(i % 5)));
  return net.numbers(values);
}

TEST(Bytes, RequantisedSumsRoundAsTheReferenceDoes) {
  for (const DataType type : {DataType::U8, DataType::I8}) {
    for (const bool each : {false, true}) {
      Net net;
      const ValueId zero = net.codes({}, type);
      const ValueId product =
          net.add("QLinearMatMul", {net.input({3, 5, 30}, type), net.number(0.05F), zero, net.codes({30, 70}, type),
                                    scaleOf(net, 0.01F, 70, each), each ? net.codes({70}, type) : net.codes({}, type),
                                    net.number(0.7F), zero});
      expectOwnKernels(net, product);
      Net conv;
      const ValueId convZero = conv.codes({}, type);
      const ValueId convolution = conv.add(
          "QLinearConv",
          {conv.input({2, 4, 9, 21}, type), conv.number(0.05F), convZero, conv.codes({6, 2, 3, 3}, type),
           scaleOf(conv, 0.01F, 6, each), each ? conv.codes({6}, type) : conv.codes({}, type), conv.number(0.6F),
           convZero,
           conv.editor.addConstant("bias", Tensor::ofInt64({1, -2, 300, -4000, 50000, 6}).converted(DataType::I32))},
          {{"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{1, 2}}, {"group", std::int64_t{2}}});
      expectOwnKernels(conv, convolution);
    }
  }
}

// What a quantiser leaves of a convolution: one kernel from the codes to the activation and the residual.
TEST(Bytes, WhatFollowsASumIsOneKernelWithIt) {
  Net net;
  const ConvForm form{.x = {1, 8, 6, 20}, .filters = {12, 8, 3, 3}, .pads = {1, 1, 1, 1}};
  const ValueId sums = convolved(net, form), bias = net.input({1, 12, 1, 1}, DataType::I32);
  const ValueId floats = net.add("Cast", {net.add("Add", {sums, bias})}, {{"to", std::int64_t{1}}});
  const ValueId scaled = net.add("Mul", {floats, net.input({})});
  const ValueId swish = net.add("Mul", {scaled, net.add("Sigmoid", {scaled})});
  net.editor.addOutput(net.add("Add", {swish, net.input({1, 12, 6, 20})}));
  const auto plan = planned(net.editor);
  EXPECT_EQ(plan->fusedNodes.size(), 1U);
  EXPECT_EQ(plan->segments.at(0).kind, SegmentKind::Accelerated);
  EXPECT_GT(expectAgreement(tryAllTactics(*plan)), 0);
}

TEST(Bytes, DynamicQuantisationIsExact) {
  for (const Dims& dims : {Dims{7}, Dims{3, 4, 33}, Dims{2, 40, 500}}) {
    Net net;
    const ValueId x = net.input(dims);
    Node node{.op = "DynamicQuantizeLinear", .name = "quantize", .inputs = {x}};
    for (int i = 0; i < 3; ++i) {
      node.outputs.push_back(net.editor.addValue("y" + std::to_string(i), {DataType::Undefined, Shape::unknown()}));
      net.editor.addOutput(node.outputs.back());
    }
    net.editor.addNode(std::move(node));
    EXPECT_GT(expectAgreement(tryAllTactics(*planned(net.editor)), kExact), 0);
  }
}

/// Of two operands that are both made while the network runs. `zeros`: none, one for each operand, or one for each
/// column of the second.
enum class Zeros { None, One, PerColumn };
ValueId productOfTwo(Net& net, const Dims& a, const Dims& b, DataType aType, DataType bType, Zeros zeros) {
  const ValueId left = net.input(a, aType), right = net.input(b, bType);
  if (zeros == Zeros::None) return net.add("MatMulInteger", {left, right});
  const Dims each = zeros == Zeros::PerColumn && b.size() > 1 ? Dims{b.back()} : Dims{};
  return net.add("MatMulInteger", {left, right, net.input({}, aType), net.input(each, bType)});
}

const std::vector<std::pair<Dims, Dims>>& extentsOfTwo() {
  static const std::vector<std::pair<Dims, Dims>> kExtents = {{{3, 40}, {40, 33}},
                                                              {{2, 3, 17, 40}, {2, 3, 40, 9}},
                                                              {{4, 2, 5, 6}, {2, 6, 7}},
                                                              {{5, 6}, {3, 1, 6, 20}},
                                                              {{3, 1, 4, 6}, {1, 2, 6, 70}},
                                                              {{40}, {40, 12}},
                                                              {{3, 5, 40}, {40}},
                                                              {{9}, {9}},
                                                              {{300, 90}, {90, 130}}};
  return kExtents;
}

TEST(Bytes, ProductsOfTwoActivationsAreExactInEveryForm) {
  for (const auto& [a, b] : extentsOfTwo())
    for (const DataType aType : {DataType::U8, DataType::I8})
      for (const DataType bType : {DataType::U8, DataType::I8})
        for (const Zeros zeros : {Zeros::None, Zeros::One, Zeros::PerColumn}) {
          SCOPED_TRACE(toText(a) + " by " + toText(b));
          Net net;
          expectOwnKernels(net, productOfTwo(net, a, b, aType, bType, zeros));
          Net again;
          EXPECT_GT(again.check(productOfTwo(again, a, b, aType, bType, zeros), MemoryFormat(), kExact), 0);
        }
}

TEST(Bytes, ProductsOfTwoActivationsAreRequantised) {
  for (const auto& [a, b] : extentsOfTwo())
    for (const DataType type : {DataType::U8, DataType::I8}) {
      SCOPED_TRACE(toText(a) + " by " + toText(b));
      Net net;
      const ValueId zero = net.codes({}, type);
      expectOwnKernels(net, net.add("QLinearMatMul", {net.input(a, type), net.number(0.05F), zero, net.input(b, type),
                                                      net.number(0.01F), zero, net.number(0.7F), zero}));
    }
}

// A constant that is no single matrix lies in memory as an activation does.
TEST(Bytes, ProductsByConstantsInBatchesAreExact) {
  Net net;
  const ValueId product = net.add("MatMulInteger", {net.input({2, 5, 40}, DataType::U8), net.codes({2, 40, 9}),
                                                    net.input({}, DataType::U8), net.codes({9})});
  expectOwnKernels(net, product);
}

// As a quantiser leaves them: without DequantizeLinear and QuantizeLinear around them.
TEST(Bytes, PoolsAndResizesOfCodesAreOurs) {
  for (const DataType type : {DataType::U8, DataType::I8}) {
    Net pool;
    expectOwnKernels(pool,
                     pool.add("MaxPool", {pool.input({2, 20, 9, 11}, type)},
                              {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}}));
    for (const char* mode : {"nearest", "linear"}) {
      Net resize;
      expectOwnKernels(resize,
                       resize.add("Resize", {resize.input({1, 4, 6, 6}, type), ValueId(), resize.numbers({1, 1, 2, 2})},
                                  {{"mode", std::string(mode)}}));
    }
  }
}

TEST(Bytes, ANumberWithoutAxesIsQuantisedByOurs) {
  Net net;
  const ValueId scale = net.number(0.1F), zero = net.codes({}, DataType::U8);
  const ValueId codes = net.add("QuantizeLinear", {net.add("Abs", {net.input({})}), scale, zero});
  expectOwnKernels(net, net.add("Sqrt", {net.add("DequantizeLinear", {codes, scale, zero})}));
}

TEST(Bytes, FiltersThatAreNotConstantAreLeftToTheReference) {
  Net net;
  net.editor.addOutput(
      net.add("ConvInteger", {net.input({1, 3, 8, 8}, DataType::U8), net.input({4, 3, 3, 3}, DataType::U8)}));
  EXPECT_EQ(planned(net.editor)->segments.at(0).kind, SegmentKind::Fallback);
}

}  // namespace
}  // namespace fusescope::testing
