#include <cmath>

#include "tests/unit/ops/ops_testing.h"

namespace fusescope::testing {
namespace {

using Int = std::int64_t;
using List = std::vector<std::int64_t>;

TEST(Reduction, EachKindAlongTheLastAxis) {
  const Tensor x = floats({2, 3}, {1, 2, 3, -4, 5, 6}), axis = ints({-1});
  const Attributes drop{{"keepdims", Int{0}}};
  expectFloats(run("ReduceSum", {x, axis}, drop), {2}, {6, 7});
  expectFloats(run("ReduceMean", {x, axis}), {2, 1}, {2, 7.0F / 3});
  expectFloats(run("ReduceMax", {x, axis}, drop), {2}, {3, 6});
  expectFloats(run("ReduceMin", {x, axis}, drop), {2}, {1, -4});
  expectFloats(run("ReduceProd", {x, axis}, drop), {2}, {6, -120});
  expectFloats(run("ReduceL1", {x, axis}, drop), {2}, {6, 15});
  expectFloats(run("ReduceL2", {x, axis}, drop), {2}, {std::sqrt(14.0F), std::sqrt(77.0F)});
  expectFloats(run("ReduceSumSquare", {x, axis}, drop), {2}, {14, 77});
  expectFloats(run("ReduceLogSum", {x, axis}, drop), {2}, {std::log(6.0F), std::log(7.0F)});
  expectFloats(run("ReduceLogSumExp", {floats({2}, {1000, 1000}), ints({0})}, drop), {}, {1000.6931F}, 1e-3F);
  expectInts(run("ArgMax", {x}, {{"axis", Int{1}}, {"keepdims", Int{0}}}), {2}, {2, 2});
  expectInts(run("ArgMin", {x}, {{"axis", Int{0}}, {"keepdims", Int{0}}}), {3}, {1, 0, 0});
  expectFloats(run("CumSum", {x, ints({}, {1})}, {{"exclusive", Int{1}}, {"reverse", Int{1}}}), {2, 3},
               {5, 3, 0, 11, 6, 0});
}

TEST(Reduction, AxesMayBeAbsentEmptyOrNothing) {
  const Tensor x = floats({2, 2}, {1, 2, 3, 4});
  expectFloats(run("ReduceSum", {x}), {1, 1}, {10});
  expectFloats(run("ReduceSum", {x, ints(List{})}, {{"noop_with_empty_axes", Int{1}}}), {2, 2}, {1, 2, 3, 4});
  expectFloats(run("ReduceMax", {floats({0, 2}, {}), ints({0})}), {1, 2}, {-INFINITY, -INFINITY});
  EXPECT_EQ(inferred("ReduceSum", {"f32[batch, 8, 8]"}, {ints({1, 2})}, {{"keepdims", Int{0}}}), "f32[batch]");
  EXPECT_EQ(inferred("ReduceSum", {"f32[batch, 8]", "int64[1]"}), "f32[?, ?]");
  EXPECT_EQ(inferred("ReduceSum", {"f32[2]"}, {ints({1})}), "error: axis 1 is outside a tensor of rank 1");
}

TEST(Softmax, AlongAnyAxisAndWithoutOverflow) {
  expectFloats(run("Softmax", {floats({2}, {1000, 1000})}), {2}, {0.5F, 0.5F});
  expectFloats(run("Softmax", {floats({2, 1}, {0, 1})}, {{"axis", Int{0}}}), {2, 1}, {0.2689414F, 0.7310586F});
  expectFloats(run("LogSoftmax", {floats({2}, {0, 1})}), {2}, {-1.3132617F, -0.3132617F});
  expectFloats(run("Hardmax", {floats({3}, {1, 3, 3})}), {3}, {0, 1, 0});
  EXPECT_EQ(errorOf(run("Softmax", {floats({2}, {0, 1})}, {{"axis", Int{5}}})),
            "node 'n': attribute 'axis': axis 5 is outside a tensor of rank 1");
}

TEST(Normalization, LayerNormGivesMeanAndInverse) {
  const auto result = run("LayerNormalization", {floats({1, 2}, {1, 3}), floats({2}, {2, 2}), floats({2}, {1, 1})},
                          {{"epsilon", 0.0F}}, 3);
  expectFloats(result, {1, 2}, {-1, 3});
  expectFloats(result, {1, 1}, {2}, 1e-6F, 1);
  expectFloats(result, {1, 1}, {1}, 1e-6F, 2);
  EXPECT_EQ(inferred("LayerNormalization", {"f16[b, s, 64]", "f16[64]"}, {}, {}, 3),
            "f16[b, s, 64] f32[b, s, 1] f32[b, s, 1]");
}

TEST(Normalization, PerChannelAndPerGroup) {
  const Attributes exact{{"epsilon", 0.0F}};
  const Tensor one = floats({1}, {1}), zero = floats({1}, {0});
  expectFloats(
      run("BatchNormalization",
          {floats({1, 1, 2}, {4, 8}), floats({1}, {3}), floats({1}, {1}), floats({1}, {2}), floats({1}, {4})}, exact),
      {1, 1, 2}, {4, 10});
  expectFloats(run("InstanceNormalization", {floats({1, 1, 2}, {1, 3}), one, zero}, exact), {1, 1, 2}, {-1, 1});
  Attributes groups = exact;
  groups["num_groups"] = Int{1};
  expectFloats(run("GroupNormalization", {floats({1, 2, 1}, {1, 3}), floats({2}, {1, 2}), floats({2}, {0, 5})}, groups),
               {1, 2, 1}, {-1, 7});
  expectFloats(run("RMSNormalization", {floats({1, 2}, {3, 4}), floats({2}, {1, 1})}, exact), {1, 2},
               {0.8485281F, 1.1313708F});
  expectFloats(run("LpNormalization", {floats({2}, {3, 4})}), {2}, {0.6F, 0.8F});
  expectFloats(run("LRN", {floats({1, 2, 1}, {1, 2})}, {{"size", Int{3}}, {"alpha", 3.0F}, {"beta", 1.0F}}), {1, 2, 1},
               {1.0F / 6, 2.0F / 6});
  expectFloats(run("MeanVarianceNormalization", {floats({2}, {1, 3})}, {{"axes", List{0}}}), {2}, {-1, 1});
  EXPECT_EQ(errorOf(run("GroupNormalization", {floats({1, 2, 1}, {1, 3}), one, one}, {{"num_groups", Int{3}}})),
            "node 'n': attribute 'num_groups': 3 does not divide the 2 channels");
}

TEST(Quantization, ThereAndBack) {
  const Tensor x = floats({2, 2}, {1.2F, -300, 2.5F, 3.5F}), scale = floats({}, {1});
  const Tensor zero = Tensor::copyOf<std::int8_t>(DataType::I8, {}, std::vector<std::int8_t>{0});
  expectInts(run("QuantizeLinear", {x, scale, zero}), {2, 2}, {1, -128, 2, 4});  // halves to even
  const Tensor q = Tensor::copyOf<std::uint8_t>(DataType::U8, {2, 2}, std::vector<std::uint8_t>{10, 20, 30, 40});
  const Tensor zeros = Tensor::copyOf<std::uint8_t>(DataType::U8, {2}, std::vector<std::uint8_t>{10, 0});
  expectFloats(run("DequantizeLinear", {q, floats({2}, {2, 0.5F}), zeros}, {{"axis", Int{0}}}), {2, 2},
               {0, 20, 15, 20});
  EXPECT_EQ(errorOf(run("DequantizeLinear", {q, floats({3}, {1, 1, 1})}, {{"axis", Int{0}}})),
            "node 'n': the node has 3 scales, but the axis has extent 2");
}

}  // namespace
}  // namespace fusescope::testing
