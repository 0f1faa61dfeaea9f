// Quantised edges inside kernels, against the reference kernel: float arithmetic on dequantised values, or that of
// integers, which is a step of the codes off where a float sum stands between two.
#include <gtest/gtest.h>

#include <cmath>

#include "ir/graph.h"
#include "tests/unit/backends_native/tactic_testing.h"

namespace fusescope::testing {
namespace {

/// A network with quantised edges under construction.
struct QuantisedNet : Net {
  ValueId codes(const Dims& dims, DataType type, std::uint32_t spread = 200) {
    Tensor numbers = Tensor::zeros(DataType::F32, dims);
    std::uint32_t i = seed++;
    for (float& number : numbers.mutableData<float>())
      number =
          static_cast<float>((i = i * 1664525u + 1013904223u) >> 16 & 0xffu) * static_cast<float>(spread) / 255.0f -
          (type == DataType::U8 ? 0.0f : static_cast<float>(spread) / 2);
    return editor.addConstant("q" + std::to_string(names++), numbers.converted(type));
  }
  ValueId zero(DataType type, float value) {
    return editor.addConstant("z" + std::to_string(names++), Tensor::scalar(value).converted(type));
  }
  ValueId quantised(ValueId x, float scale, ValueId zeroPoint) {
    return add("QuantizeLinear", {x, number(scale), zeroPoint});
  }
  ValueId dequantised(ValueId x, float scale, ValueId zeroPoint) {
    return add("DequantizeLinear", {x, number(scale), zeroPoint});
  }
  ValueId rounded(ValueId x, float scale, DataType type, float zeroPoint) {
    const ValueId place = zero(type, zeroPoint);
    return dequantised(quantised(x, scale, place), scale, place);
  }
  /// One kernel, of which every tactic agrees, to the last code unless it multiplies codes; none runs a part by the
  /// reference, none but the reference itself is emulated, and the first is `tactic`, which needs constant weights
  /// where it is a convolution or product.
  void expectOwn(ValueId result, const std::string& tactic = "native:") {
    editor.addOutput(result);
    const auto plan = planned(editor);
    EXPECT_EQ(plan->fusedNodes.size(), 1U);
    const auto outcomes = tryAllTactics(*plan);
    EXPECT_GE(outcomes.size(), 2U);
    EXPECT_TRUE(outcomes.front().tactic.starts_with(tactic)) << outcomes.front().tactic;
    for (const TacticOutcome& outcome : outcomes) {
      EXPECT_EQ(outcome.tactic.find(":reference"), std::string::npos) << outcome.tactic;
      EXPECT_TRUE(!outcome.emulated || outcome.tactic == "reference") << outcome.tactic;
      EXPECT_EQ(outcome.problem, "") << outcome.tactic;
      const bool multiplies = plan->calculates[plan->fusedNodes[0].root.index] == DataType::I8;
      EXPECT_LE(outcome.steps, multiplies ? 1 : 0) << outcome.tactic;
      EXPECT_LE(outcome.unlike, 0.01) << outcome.tactic;
      EXPECT_LE(outcome.worst, multiplies ? INFINITY : 1e-5) << outcome.tactic;
    }
  }
};

TEST(Quantisation, RoundsHalvesToEvenAndSaturates) {
  for (const DataType type : {DataType::I8, DataType::U8}) {
    QuantisedNet net;
    const float infinity = INFINITY;
    // A half of a scale is exact in floats.
    const ValueId halves = net.numbers({0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 127.4f, 127.5f, 300.0f, -128.5f, -129.0f, 1e30f,
                                        -1e30f, infinity, -infinity, NAN, 0.49999997f});
    const ValueId nothing = net.add("Mul", {net.input({16}), net.number(0)});
    const ValueId x = net.add("Mul", {net.add("Add", {nothing, halves}), net.number(0.25f)});
    const ValueId place = net.zero(type, type == DataType::U8 ? 7.0f : -3.0f);
    net.expectOwn(net.quantised(x, 0.25f, place));
  }
}

TEST(Quantisation, BetweenAConvolutionAndItsActivation) {
  QuantisedNet net;
  const ValueId x = net.dequantised(net.input({1, 4, 6, 6}, DataType::I8), 0.125f, net.zero(DataType::I8, 3));
  const ValueId w = net.dequantised(net.codes({8, 4, 3, 3}, DataType::I8), 0.03125f, net.zero(DataType::I8, 0));
  const ValueId conv = net.rounded(net.add("Conv", {x, w}), 0.25f, DataType::I8, -3);
  const ValueId gate = net.rounded(net.add("Sigmoid", {conv}), 0.0078125f, DataType::U8, 0);
  net.expectOwn(net.quantised(net.add("Mul", {conv, gate}), 0.25f, net.zero(DataType::I8, -3)), "");
}

TEST(Quantisation, BetweenElementwiseNodes) {
  QuantisedNet net;
  const ValueId x = net.dequantised(net.input({5, 33}, DataType::I8), 0.125f, net.zero(DataType::I8, 1));
  const ValueId gate = net.rounded(net.add("Sigmoid", {x}), 0.0078125f, DataType::U8, 0);
  net.expectOwn(net.quantised(net.add("Mul", {x, gate}), 0.0625f, net.zero(DataType::I8, 0)));
}

TEST(Quantisation, AroundANorm) {
  QuantisedNet net;
  const ValueId x = net.dequantised(net.input({5, 32}, DataType::I8), 0.125f, net.zero(DataType::I8, 1));
  const ValueId squares = net.add("ReduceMean", {net.add("Mul", {x, x}), net.ints({-1})});
  const ValueId root = net.add("Sqrt", {net.add("Add", {squares, net.number(1e-3f)})});
  const ValueId scaled = net.add("Mul", {net.add("Div", {x, root}), net.weights({32})});
  net.expectOwn(net.quantised(scaled, 0.0625f, net.zero(DataType::I8, 0)));
}

TEST(Quantisation, ATableIsDequantisedWhereItsRowsAreTaken) {
  QuantisedNet net;
  const ValueId table = net.dequantised(net.codes({100, 16}, DataType::I8), 0.125f, net.zero(DataType::I8, 0));
  const ValueId rows = net.input({7}, DataType::I64);
  net.expectOwn(net.add("Gather", {table, rows}));
}

TEST(Quantisation, AlongAnAxis) {
  for (const std::int64_t axis : {0, 1, 2, -1}) {
    for (const DataType type : {DataType::I8, DataType::U8}) {
      QuantisedNet net;
      const Dims dims = {3, 5, 7};
      const std::int64_t count = dims[static_cast<std::size_t>(axis < 0 ? axis + 3 : axis)];
      const ValueId scales = net.positive({count}), places = net.codes({count}, type, 20);
      const std::map<std::string, Attribute> along = {{"axis", axis}};
      const ValueId x = net.add("Relu", {net.input(dims)});
      const ValueId codes = net.add("QuantizeLinear", {x, scales, places}, along);
      net.expectOwn(net.add("DequantizeLinear", {codes, scales, places}, along));
    }
  }
}

TEST(Quantisation, CodesEnterAndLeaveTheKernel) {
  for (const DataType type : {DataType::I8, DataType::U8}) {
    QuantisedNet net;
    const ValueId place = net.zero(type, 1);
    const ValueId a = net.dequantised(net.input({2, 8, 6, 6}, type), 0.1f, place);
    const ValueId b = net.dequantised(net.input({2, 8, 6, 6}, type), 0.2f, place);
    net.expectOwn(net.quantised(net.add("Add", {a, b}), 0.15f, place));
  }
}

TEST(Quantisation, ConvolutionWithDequantisedFilters) {
  for (const bool residual : {false, true}) {
    QuantisedNet net;
    const ValueId place = net.zero(DataType::U8, 3);
    const ValueId x = net.dequantised(net.input({1, 8, 9, 9}, DataType::U8), 0.05f, place);
    const ValueId w =
        net.add("DequantizeLinear",
                {net.codes({16, 8, 3, 3}, DataType::I8), net.positive({16}), net.codes({16}, DataType::I8, 0)},
                {{"axis", std::int64_t{0}}});
    const ValueId bias = net.dequantised(net.codes({16}, DataType::I32), 0.01f, net.zero(DataType::I32, 0));
    ValueId y = net.add("Conv", {x, w, bias}, {{"kernel_shape", Ints{3, 3}}});
    if (residual) y = net.add("Add", {y, net.dequantised(net.input({1, 16, 7, 7}, DataType::U8), 0.1f, place)});
    net.expectOwn(net.quantised(net.add("Relu", {y}), 0.5f, place), "");
  }
}

TEST(Quantisation, ProductByDequantisedWeights) {
  QuantisedNet net;
  const ValueId place = net.zero(DataType::I8, 0);
  const ValueId x = net.rounded(net.input({5, 24}), 0.01f, DataType::I8, 0);
  const ValueId w = net.add("DequantizeLinear",
                            {net.codes({24, 12}, DataType::I8), net.positive({12}), net.codes({12}, DataType::I8, 0)},
                            {{"axis", std::int64_t{1}}});
  const ValueId y = net.add("Add", {net.add("MatMul", {x, w}), net.weights({12})});
  net.expectOwn(net.quantised(net.add("Relu", {y}), 0.25f, place), "");
}

TEST(Quantisation, PoolAndConcat) {
  QuantisedNet pool;
  const ValueId place = pool.zero(DataType::U8, 3);
  const ValueId x = pool.dequantised(pool.input({1, 8, 8, 8}, DataType::U8), 0.05f, place);
  pool.expectOwn(pool.quantised(pool.add("MaxPool", {x}, {{"kernel_shape", Ints{2, 2}}}), 0.05f, place));

  QuantisedNet concat;
  const ValueId at = concat.zero(DataType::I8, 0);
  const ValueId a = concat.dequantised(concat.input({1, 8, 4, 4}, DataType::I8), 0.05f, at);
  const ValueId b = concat.dequantised(concat.input({1, 4, 4, 4}, DataType::I8), 0.1f, at);
  concat.expectOwn(concat.quantised(concat.add("Concat", {a, b}, {{"axis", std::int64_t{1}}}), 0.1f, at));
}

/// What makes codes of codes alone is looked up: no register of a tape is needed.
TEST(Quantisation, CodesOfCodesAreLookedUp) {
  int tables = 0;
  for (const DataType from : {DataType::U8, DataType::I8}) {
    for (const DataType to : {DataType::U8, DataType::I8}) {
      for (const Dims& dims : {Dims{1, 300}, Dims{3, 1, 63}, Dims{2, 8, 40, 500}}) {
        QuantisedNet net;
        const ValueId x = net.dequantised(net.input(dims, from), 0.031f, net.zero(from, 5));
        const ValueId gate = net.rounded(net.add("Sigmoid", {x}), 0.0078125f, DataType::U8, 0);
        net.editor.addOutput(net.quantised(net.add("Mul", {x, gate}), 0.02f, net.zero(to, 9)));
        for (const TacticOutcome& outcome : tryAllTactics(*planned(net.editor))) {
          EXPECT_EQ(outcome.problem, "") << outcome.tactic;
          EXPECT_EQ(outcome.steps, 0) << outcome.tactic;
          if (outcome.tactic != "native:pointwise") continue;
          EXPECT_EQ(outcome.scratchBytes, 0U);
          ++tables;
        }
      }
    }
  }
  EXPECT_EQ(tables, 12);
}

/// A residual of codes, and the QuantizeLinear behind it, belong to the convolution: nothing stands in memory between.
TEST(Quantisation, AConvolutionQuantisesBehindItsResidual) {
  QuantisedNet net;
  const ValueId place = net.zero(DataType::U8, 3);
  const ValueId x = net.dequantised(net.input({1, 16, 40, 40}, DataType::U8), 0.05f, place);
  const ValueId other = net.dequantised(net.input({1, 32, 40, 40}, DataType::U8), 0.07f, place);
  const ValueId w = net.dequantised(net.codes({32, 16, 1, 1}, DataType::I8), 0.03f, net.zero(DataType::I8, 0));
  const ValueId conv = net.rounded(net.add("Conv", {x, w}), 0.1f, DataType::U8, 120);
  net.editor.addOutput(net.quantised(net.add("Add", {conv, other}), 0.12f, place));
  for (const TacticOutcome& outcome : tryAllTactics(*planned(net.editor))) {
    EXPECT_EQ(outcome.problem, "") << outcome.tactic;
    EXPECT_LE(outcome.steps, 1) << outcome.tactic;
    if (!outcome.tactic.starts_with("onednn:conv")) continue;
    EXPECT_LT(outcome.scratchBytes, 32U * 40 * 40 * sizeof(float));
  }
}

/// The greatest codes of windows that meet borders, by as many channels as fill vectors and as do not.
TEST(Quantisation, PoolsOfCodes) {
  int pools = 0;
  for (const DataType type : {DataType::U8, DataType::I8}) {
    for (const std::int64_t channels : {1, 3, 16, 33, 64, 130}) {
      for (const bool wide : {false, true}) {
        QuantisedNet net;
        const ValueId place = net.zero(type, 3);
        const ValueId x = net.dequantised(net.input({2, channels, 13, 11}, type), 0.05f, place);
        const std::map<std::string, Attribute> window =
            wide ? std::map<std::string, Attribute>{{"kernel_shape", Ints{3, 2}},
                                                    {"dilations", Ints{2, 3}},
                                                    {"pads", Ints{1, 1, 2, 0}}}
                 : std::map<std::string, Attribute>{
                       {"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}};
        net.editor.addOutput(net.quantised(net.add("MaxPool", {x}, window), wide ? 0.05f : 0.043f, place));
        for (const TacticOutcome& outcome : tryAllTactics(*planned(net.editor), MemoryFormat::channelsLast(4))) {
          EXPECT_EQ(outcome.problem, "") << outcome.tactic;
          EXPECT_EQ(outcome.steps, 0) << outcome.tactic;
          pools += outcome.tactic.starts_with("native:pool");
        }
      }
    }
  }
  EXPECT_EQ(pools, 48) << "each row-major and channels last";
}

/// Codes that a kernel only picks: whatever their scales, and in whatever format they come.
TEST(Quantisation, PickedCodesAreCodesAllTheWay) {
  int kernels = 0;
  for (const DataType type : {DataType::U8, DataType::I8}) {
    for (const float scale : {0.05f, 0.0730f}) {
      for (const char* move : {"MaxPool", "Transpose", "Flatten"}) {
        QuantisedNet net;
        const ValueId place = net.zero(type, 3), other = net.zero(DataType::U8, 131);
        const ValueId a = net.dequantised(net.input({1, 8, 6, 6}, type), 0.05f, place);
        const ValueId b = net.dequantised(net.input({1, 8, 6, 6}, DataType::U8), 0.04f, other);
        const ValueId both = net.add("Concat", {a, b}, {{"axis", std::int64_t{1}}});
        std::map<std::string, Attribute> how;
        if (move == std::string("MaxPool")) how = {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}};
        net.editor.addOutput(net.quantised(net.add(move, {both}, how), scale, place));
        for (const MemoryFormat& format : {MemoryFormat(), MemoryFormat::channelsLast(4)}) {
          for (const TacticOutcome& outcome : tryAllTactics(*planned(net.editor), format)) {
            EXPECT_EQ(outcome.problem, "") << outcome.tactic;
            EXPECT_EQ(outcome.steps, 0) << move << " by " << outcome.tactic;
            EXPECT_EQ(outcome.tactic.find(":reference"), std::string::npos) << outcome.tactic;
            kernels += outcome.tactic != "reference";
          }
        }
      }
    }
  }
  EXPECT_GE(kernels, 24);
}

/// The first convolution of a network quantises what it reads: few planes, with channels last in one pass.
TEST(Quantisation, BeforeAConvolutionOfFewPlanes) {
  for (const std::int64_t planes : {1, 2, 3, 4, 5}) {
    for (const DataType type : {DataType::U8, DataType::I8}) {
      QuantisedNet net;
      const ValueId place = net.zero(type, type == DataType::U8 ? 117.0f : -11.0f);
      const ValueId x = net.dequantised(net.quantised(net.input({2, planes, 21, 33}), 0.0078f, place), 0.0078f, place);
      const ValueId w =
          net.dequantised(net.codes({8, planes, 3, 3}, DataType::I8), 0.03125f, net.zero(DataType::I8, 0));
      net.expectOwn(net.quantised(net.add("Conv", {x, w}), 0.5f, place), "");
    }
  }
}

}  // namespace
}  // namespace fusescope::testing
