// Each kind of fused node that computes with floats: every tactic against the reference kernel, over shapes and
// formats.
#include <gtest/gtest.h>

#include "tests/unit/backends_native/tactic_testing.h"

namespace fusescope::testing {
namespace {

struct ConvCase {
  std::int64_t batch, in, out, extent, kernel, stride, dilation, groups;
};

class ConvShapes : public ::testing::TestWithParam<std::tuple<ConvCase, MemoryFormat>> {};

TEST_P(ConvShapes, WithBatchNormResidualAndRelu) {
  const auto& [c, format] = GetParam();
  Net net;
  const ValueId x = net.input({c.batch, c.in, c.extent, c.extent});
  const std::int64_t pad = c.dilation * (c.kernel - 1) / 2;
  const ValueId y = net.add("Conv", {x, net.weights({c.out, c.in / c.groups, c.kernel, c.kernel})},
                            {{"kernel_shape", Ints{c.kernel, c.kernel}},
                             {"strides", Ints{c.stride, c.stride}},
                             {"dilations", Ints{c.dilation, c.dilation}},
                             {"pads", Ints{pad, pad, pad, pad}},
                             {"group", c.groups}});
  const ValueId n = net.add("BatchNormalization", {y, net.weights({c.out}), net.weights({c.out}), net.weights({c.out}),
                                                   net.positive({c.out})});
  const std::int64_t extent = (c.extent + 2 * pad - c.dilation * (c.kernel - 1) - 1) / c.stride + 1;
  const ValueId sum = net.add("Add", {n, net.input({c.batch, c.out, extent, extent})});
  EXPECT_GE(net.check(net.add("Relu", {sum}), format), 1);
}

INSTANTIATE_TEST_SUITE_P(
    Formats, ConvShapes,
    ::testing::Combine(::testing::Values(ConvCase{1, 3, 16, 15, 3, 2, 1, 1}, ConvCase{3, 16, 24, 7, 1, 1, 1, 1},
                                         ConvCase{2, 16, 16, 9, 3, 1, 1, 16}, ConvCase{7, 5, 6, 8, 3, 1, 2, 1},
                                         ConvCase{1, 8, 12, 6, 5, 1, 1, 4}),
                       ::testing::Values(MemoryFormat(), MemoryFormat::channelsLast(4),
                                         MemoryFormat::blockedChannels(4, 8))));

TEST(Conv, AsymmetricPadsThreeAxesAndOne) {
  Net one;
  EXPECT_GE(one.check(one.add("Conv", {one.input({2, 6, 11}), one.weights({4, 6, 3}), one.weights({4})},
                              {{"kernel_shape", Ints{3}}, {"pads", Ints{2, 0}}})),
            1);
  Net three;
  EXPECT_GE(three.check(three.add("Conv", {three.input({1, 4, 5, 6, 7}), three.weights({8, 4, 2, 3, 3})},
                                  {{"kernel_shape", Ints{2, 3, 3}}})),
            1);
  Net two;
  EXPECT_GE(two.check(two.add("Conv", {two.input({1, 8, 9, 10}), two.weights({8, 8, 3, 2})},
                              {{"kernel_shape", Ints{3, 2}}, {"pads", Ints{0, 1, 2, 0}}})),
            1);
}

// Groups that fill no blocks: what oneDNN prefers when it may choose is not what it makes when formats are given. Every
// tactic that is offered can be prepared.
TEST(Conv, GroupsThatFillNoBlocks) {
  for (const auto& [in, out, kernel] : {std::tuple(24, 20, 1), std::tuple(24, 20, 3), std::tuple(20, 20, 1),
                                        std::tuple(24, 24, 1), std::tuple(20, 24, 3)}) {
    Net net;
    EXPECT_GE(net.check(net.add("Conv", {net.input({1, in, 16, 24}), net.weights({out, in / 2, kernel, kernel})},
                                {{"kernel_shape", Ints{kernel, kernel}}, {"group", std::int64_t{2}}})),
              1);
  }
}

TEST(Conv, Transposed) {
  for (const std::int64_t groups : {1, 2}) {
    Net net;
    const ValueId y =
        net.add("ConvTranspose", {net.input({2, 8, 5, 6}), net.weights({8, 6, 3, 3}), net.weights({6 * groups})},
                {{"kernel_shape", Ints{3, 3}},
                 {"strides", Ints{2, 2}},
                 {"pads", Ints{1, 1, 1, 1}},
                 {"output_padding", Ints{1, 0}},
                 {"group", groups}});
    EXPECT_GE(net.check(net.add("Relu", {y})), 1);
  }
}

TEST(Conv, ActivationsFollow) {
  for (const char* activation :
       {"Relu", "Sigmoid", "HardSwish", "HardSigmoid", "Tanh", "LeakyRelu", "Elu", "Softplus", "Mish", "Gelu"}) {
    Net net;
    const ValueId y = net.add("Conv", {net.input({1, 8, 6, 6}), net.weights({16, 8, 3, 3}), net.weights({16})},
                              {{"kernel_shape", Ints{3, 3}}});
    EXPECT_GE(net.check(net.add(activation, {y}), MemoryFormat(), 2e-4), 1) << activation;
  }
  Net swish;
  const ValueId y =
      swish.add("Conv", {swish.input({1, 8, 6, 6}), swish.weights({16, 8, 1, 1})}, {{"kernel_shape", Ints{1, 1}}});
  EXPECT_GE(swish.check(swish.add("Mul", {y, swish.add("Sigmoid", {y})})), 1);
  Net clip;
  const ValueId z =
      clip.add("Conv", {clip.input({1, 8, 6, 6}), clip.weights({16, 8, 1, 1})}, {{"kernel_shape", Ints{1, 1}}});
  EXPECT_GE(clip.check(clip.add("Clip", {z, clip.number(0), clip.number(0.5f)})), 1);
}

TEST(MatMul, ByConstantsWithEpilogue) {
  for (const Dims& rows : {Dims{1, 1}, Dims{7, 13}, Dims{3, 5, 20}, Dims{2, 3, 4, 33}}) {
    Net net;
    const std::int64_t k = rows.back();
    Dims result = rows;
    result.back() = 19;
    const ValueId y = net.add("Add", {net.add("MatMul", {net.input(rows), net.weights({k, 19})}), net.weights({19})});
    EXPECT_GE(net.check(net.add("Add", {net.add("Gelu", {y}), net.input(result)}), MemoryFormat(), 2e-4), 2);
  }
}

TEST(MatMul, BatchesBroadcastAndTranspositions) {
  Net net;
  const ValueId b = net.add("Transpose", {net.input({4, 7, 6})}, {{"perm", Ints{0, 2, 1}}});
  EXPECT_GE(net.check(net.add("MatMul", {net.input({3, 4, 5, 6}), b})), 1);
}

TEST(MatMul, VectorsAreRows) {
  Net both;
  EXPECT_GE(both.check(both.add("MatMul", {both.input({6}), both.input({6, 4})})), 1);
  Net batches;
  EXPECT_GE(batches.check(batches.add("MatMul", {batches.input({6}), batches.input({3, 6, 4})})), 1);
  Net weights;
  const ValueId product = weights.add("MatMul", {weights.input({6}), weights.weights({6, 4})});
  EXPECT_GE(weights.check(weights.add("Relu", {weights.add("Add", {product, weights.numbers({1, -1, 2, -2})})})), 1);
  Net column;  // a vector behind the matrix is the reference's
  EXPECT_EQ(column.check(column.add("MatMul", {column.input({4, 6}), column.input({6})})), 0);
  Net dot;
  EXPECT_EQ(dot.check(dot.add("MatMul", {dot.input({6}), dot.input({6})})), 0);
}

TEST(Gemm, FactorsAndTranspositions) {
  for (const std::int64_t transposed : {0, 1}) {
    Net net;
    const ValueId x = net.input(transposed != 0 ? Dims{12, 5} : Dims{5, 12});
    const ValueId w = net.weights(transposed != 0 ? Dims{9, 12} : Dims{12, 9});
    EXPECT_GE(net.check(net.add("Gemm", {x, w, net.weights({9})}, {{"transA", transposed}, {"transB", transposed}})),
              1);
    Net scaled;
    const ValueId y = scaled.add("Gemm", {scaled.input({5, 12}), scaled.weights({12, 9}), scaled.input({5, 9})},
                                 {{"alpha", 0.5f}, {"beta", 2.0f}});
    EXPECT_GE(scaled.check(scaled.add("Relu", {y})), 1);
  }
}

/// Attention as PyTorch exports it: [batch, rows, heads·depth] in and out, a mask, the guard against empty rows.
int checkAttention(std::int64_t batch, std::int64_t rows, std::int64_t heads, std::int64_t depth, bool guard) {
  Net net;
  const auto heading = [&](ValueId x) {
    return net.add("Transpose", {net.add("Reshape", {x, net.ints({batch, rows, heads, depth})})},
                   {{"perm", Ints{0, 2, 1, 3}}});
  };
  const Dims dims = {batch, rows, heads * depth};
  const ValueId q = net.add("Mul", {heading(net.input(dims)), net.number(0.5f)});
  const ValueId k = net.add("Transpose", {heading(net.input(dims))}, {{"perm", Ints{0, 1, 3, 2}}});
  const ValueId v = heading(net.input(dims));
  const ValueId scores = net.add("Add", {net.add("MatMul", {q, k}), net.input({batch, 1, rows, rows})});
  ValueId p = net.add("Softmax", {scores}, {{"axis", std::int64_t{-1}}});
  if (guard) p = net.add("Where", {net.add("IsNaN", {p}), net.number(0), p});
  const ValueId o = net.add("Transpose", {net.add("MatMul", {p, v})}, {{"perm", Ints{0, 2, 1, 3}}});
  return net.check(net.add("Reshape", {o, net.ints({batch, rows, heads * depth})}));
}

TEST(Attention, ShapesAndGuard) {
  EXPECT_GE(checkAttention(1, 12, 2, 8, true), 1);
  EXPECT_GE(checkAttention(3, 7, 3, 5, false), 1);
  EXPECT_GE(checkAttention(2, 101, 1, 64, true), 1);
}

TEST(Pointwise, BroadcastsOfEveryKind) {
  for (const MemoryFormat& format :
       {MemoryFormat(), MemoryFormat::channelsLast(4), MemoryFormat::blockedChannels(4, 8)}) {
    Net net;
    const ValueId x = net.input({2, 16, 5, 7});
    const ValueId scaled = net.add("Mul", {x, net.weights({16, 1, 1})});
    const ValueId row = net.add("Add", {scaled, net.weights({7})});
    const ValueId gate = net.add("Greater", {row, net.number(0.1f)});
    const ValueId chosen = net.add("Where", {gate, net.add("Tanh", {row}), net.add("Erf", {x})});
    EXPECT_GE(net.check(net.add("Sub", {chosen, net.input({2, 1, 5, 1})}), format), 1);
  }
}

TEST(Pointwise, EveryUnaryFunction) {
  for (const char* op : {"Neg",
                         "Abs",
                         "Exp",
                         "Floor",
                         "Ceil",
                         "Round",
                         "Erf",
                         "Tanh",
                         "Sigmoid",
                         "Relu",
                         "LeakyRelu",
                         "Elu",
                         "Selu",
                         "Celu",
                         "Softplus",
                         "Softsign",
                         "HardSigmoid",
                         "HardSwish",
                         "ThresholdedRelu",
                         "Gelu",
                         "Mish",
                         "Sign",
                         "Sin",
                         "Cos",
                         "Atan",
                         "Sinh",
                         "Asinh"}) {
    for (const Dims& dims : {Dims{}, Dims{3}, Dims{5, 1031}}) {
      Net net;
      EXPECT_GE(net.check(net.add(op, {net.input(dims)})), 1) << op;
    }
  }
}

TEST(Pointwise, NoElements) {
  Net net;
  EXPECT_GE(net.check(net.add("Relu", {net.add("Add", {net.input({2, 0, 3}), net.input({3})})})), 1);
}

TEST(Rows, SoftmaxAndNorms) {
  for (const Dims& dims : {Dims{1, 1}, Dims{7, 33}, Dims{2, 3, 257}}) {
    Net softmax;
    EXPECT_GE(softmax.check(softmax.add("Softmax", {softmax.input(dims)}, {{"axis", std::int64_t{-1}}})), 1);
    Net norm;
    if (dims.back() > 1) {
      EXPECT_GE(norm.check(norm.add("LayerNormalization",
                                    {norm.input(dims), norm.weights({dims.back()}), norm.weights({dims.back()})})),
                1);
    }
  }
  Net middle;
  EXPECT_GE(middle.check(middle.add("Softmax", {middle.input({2, 5, 3})}, {{"axis", std::int64_t{1}}})), 1);
}

TEST(Reduce, AxesOfEveryKind) {
  for (const char* op :
       {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp"}) {
    for (const Ints& axes : {Ints{2, 3}, Ints{1}, Ints{0, 2}, Ints{-1}, Ints{0, 1, 2, 3}}) {
      for (const MemoryFormat& format :
           {MemoryFormat(), MemoryFormat::channelsLast(4), MemoryFormat::blockedChannels(4, 8)}) {
        Net net;
        EXPECT_GE(
            net.check(net.add(op, {net.input({3, 16, 5, 7}), net.ints(axes)}, {{"keepdims", std::int64_t{0}}}), format),
            1)
            << op;
      }
    }
  }
}

TEST(Pool, FormatsPadsAndCeilings) {
  for (const MemoryFormat& format :
       {MemoryFormat(), MemoryFormat::channelsLast(4), MemoryFormat::blockedChannels(4, 8)}) {
    for (const char* op : {"MaxPool", "AveragePool"}) {
      for (const std::int64_t ceiling : {0, 1}) {
        Net net;
        EXPECT_GE(net.check(net.add(op, {net.input({2, 16, 11, 8})},
                                    {{"kernel_shape", Ints{3, 3}},
                                     {"strides", Ints{2, 2}},
                                     {"pads", Ints{1, 1, 0, 1}},
                                     {"ceil_mode", ceiling}}),
                            format),
                  1);
      }
    }
    Net global;
    EXPECT_GE(global.check(global.add("GlobalAveragePool", {global.input({3, 24, 7, 7})}), format), 1);
  }
}

TEST(Resize, EveryModeIsOwn) {
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    for (const char* places : {"half_pixel", "asymmetric", "align_corners"}) {
      Net net;
      const ValueId scales = net.numbers({1, 1, 2, 1.5F});
      expectOwnKernels(net,
                       net.add("Resize", {net.input({2, 3, 5, 6}), ValueId(), scales},
                               {{"mode", std::string(mode)}, {"coordinate_transformation_mode", std::string(places)}}));
    }
  }
  Net sizes;
  expectOwnKernels(sizes,
                   sizes.add("Resize", {sizes.input({1, 2, 7, 9}), ValueId(), ValueId(), sizes.ints({1, 2, 4, 3})},
                             {{"mode", std::string("linear")}, {"antialias", std::int64_t{1}}}));
}

TEST(Rows, InstanceNormIsOwn) {
  for (const Dims& dims : {Dims{2, 3, 4, 5}, Dims{1, 4, 7}}) {
    Net net;
    expectOwnKernels(
        net, net.add("InstanceNormalization", {net.input(dims), net.weights({dims[1]}), net.weights({dims[1]})}));
  }
}

TEST(Rows, SoftmaxOnAnyAxisIsOwn) {
  for (const std::int64_t axis : {0, 1, 2}) {
    Net net;
    expectOwnKernels(net, net.add("Softmax", {net.input({2, 5, 3})}, {{"axis", axis}}));
  }
}

}  // namespace
}  // namespace fusescope::testing
