#include <cmath>

#include "ops/run_node.h"
#include "ops/support/einsum_equation.h"
#include "tests/unit/ops/ops_testing.h"

namespace fusescope::testing {
namespace {

using Int = std::int64_t;
using List = std::vector<std::int64_t>;

TEST(MatMul, AllRanks) {
  const Tensor a = floats({2, 3}, {1, 2, 3, 4, 5, 6}), b = floats({3, 2}, {1, 0, 0, 1, 1, 1});
  expectFloats(run("MatMul", {a, b}), {2, 2}, {4, 5, 10, 11});
  expectFloats(run("MatMul", {floats({3}, {1, 1, 1}), b}), {2}, {2, 2});
  expectFloats(run("MatMul", {a, floats({3}, {1, 1, 1})}), {2}, {6, 15});
  expectFloats(run("MatMul", {floats({2, 1, 2}, {1, 2, 3, 4}), floats({1, 2, 1}, {10, 1})}), {2, 1, 1}, {12, 34});
  expectFloats(run("MatMul", {floats({1, 1, 2}, {1, 2}), floats({2, 2, 1}, {1, 1, 2, 2})}), {2, 1, 1}, {3, 6});
}

TEST(MatMul, BlockedProductEqualsThePlainSum) {
  const Int m = 7, k = 33, n = 37;  // none a multiple of the blocks
  std::vector<float> a, b;
  for (Int i = 0; i < m * k; ++i) a.push_back(static_cast<float>(i % 13 - 6));
  for (Int i = 0; i < k * n; ++i) b.push_back(static_cast<float>(i % 7 - 3));
  std::vector<float> expected(static_cast<std::size_t>(m * n), 0);
  for (Int i = 0; i < m; ++i)
    for (Int j = 0; j < n; ++j)
      for (Int p = 0; p < k; ++p)
        expected[static_cast<std::size_t>(i * n + j)] +=
            a[static_cast<std::size_t>(i * k + p)] * b[static_cast<std::size_t>(p * n + j)];
  expectFloats(run("MatMul", {floats({m, k}, a), floats({k, n}, b)}), {m, n}, expected, 0.0F);
}

TEST(MatMul, ShapesAndFlops) {
  EXPECT_EQ(inferred("MatMul", {"f32[batch, seq, 64]", "f32[64, 32]"}), "f32[batch, seq, 32]");
  EXPECT_EQ(inferred("MatMul", {"f32[2, 3]", "f32[4, 5]"}),
            "error: the inner extents of a matrix product must be equal, but are 3 and 4");
  EXPECT_EQ(inferred("MatMul", {"f32[]", "f32[4, 5]"}), "error: a matrix product needs operands of rank 1 or more");
  const std::vector<Dims> in{{2, 3, 4}, {4, 5}}, out{{2, 3, 5}};
  EXPECT_EQ(flopsOf(nodeOf("MatMul", 2), in, out), 2 * 30 * 4);
}

TEST(Gemm, ScalesTransposesAndAdds) {
  const Tensor a = floats({2, 1}, {1, 2}), b = floats({3, 2}, {1, 2, 3, 4, 5, 6}), c = floats({3}, {1, 2, 3});
  expectFloats(run("Gemm", {a, b, c}, {{"transA", Int{1}}, {"transB", Int{1}}, {"alpha", 2.0F}, {"beta", 10.0F}}),
               {1, 3}, {20, 42, 64});
  EXPECT_EQ(inferred("Gemm", {"f32[n, 4]", "f32[8, 4]", "f32[8]"}, {}, {{"transB", Int{1}}}), "f32[n, 8]");
}

TEST(Einsum, IsSaidInLowerCase) {
  EXPECT_EQ(ops::inLowerCase("Bij, Bjk -> Bik"), "bij,bjk->bik");
  EXPECT_EQ(ops::inLowerCase("bA,Ba->"), "bc,da->");
  EXPECT_EQ(ops::inLowerCase("...bA"), "...ba->...ab");  // an output that is left out goes by the author's letters
  EXPECT_EQ(ops::inLowerCase("Aa,a"), "ba,a->b");
  EXPECT_EQ(ops::inLowerCase("abcdefghijklmn,nopqrstuvwxyzA->A"), std::nullopt);
}

TEST(Einsum, SumsOverWhatTheOutputLeavesOut) {
  const Tensor a = floats({2, 2}, {1, 2, 3, 4});
  const auto eq = [](const char* text) { return Attributes{{"equation", std::string(text)}}; };
  expectFloats(run("Einsum", {a, a}, eq("ij,jk->ik")), {2, 2}, {7, 10, 15, 22});
  expectFloats(run("Einsum", {a}, eq("ii->i")), {2}, {1, 4});
  expectFloats(run("Einsum", {a}, eq("ij->ji")), {2, 2}, {1, 3, 2, 4});
  expectFloats(run("Einsum", {a, a}, eq("...i,...i->...")), {2}, {5, 25});
  EXPECT_EQ(inferred("Einsum", {"f32[b, h, q, 64]", "f32[b, h, k, 64]"}, {}, eq("bhqd,bhkd->bhqk")), "f32[b, h, q, k]");
  EXPECT_EQ(inferred("Einsum", {"f32[2]"}, {}, eq("ij->i")), "error: 'ij' names 2 axes, but its operand has rank 1");
}

TEST(Conv, PaddedStridedGroupedDilated) {
  const Tensor x = floats({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}), ones = floats({1, 1, 2, 2}, {1, 1, 1, 1});
  expectFloats(run("Conv", {x, ones}), {1, 1, 2, 2}, {12, 16, 24, 28});
  expectFloats(run("Conv", {x, ones, floats({1}, {100})}, {{"pads", List{1, 1, 0, 0}}, {"strides", List{2, 2}}}),
               {1, 1, 2, 2}, {101, 105, 111, 128});
  expectFloats(run("Conv", {x, ones}, {{"dilations", List{2, 2}}}), {1, 1, 1, 1}, {20});
  expectFloats(run("Conv", {x, ones}, {{"auto_pad", std::string("SAME_UPPER")}}), {1, 1, 3, 3},
               {12, 16, 9, 24, 28, 15, 15, 17, 9});
  const Tensor two = floats({1, 2, 1}, {3, 5}), perChannel = floats({2, 1, 1}, {2, 10});
  expectFloats(run("Conv", {two, perChannel}, {{"group", Int{2}}}), {1, 2, 1}, {6, 50});
}

TEST(Conv, ShapesAndErrors) {
  EXPECT_EQ(inferred("Conv", {"f32[batch, 3, 224, 224]", "f32[64, 3, 7, 7]"}, {},
                     {{"strides", List{2, 2}}, {"pads", List{3, 3, 3, 3}}}),
            "f32[batch, 64, 112, 112]");
  EXPECT_EQ(inferred("Conv", {"f32[1, 3, h, w]", "f32[8, 3, 3, 3]"}, {}, {{"pads", List{1, 1, 1, 1}}}),
            "f32[1, 8, h, w]");
  EXPECT_EQ(inferred("Conv", {"f32[1, 3, h, w]", "f32[8, 3, 3, 3]"}), "f32[1, 8, h - 2, w - 2]");
  EXPECT_EQ(inferred("Conv", {"f32[1, 4, 8, 8]", "f32[8, 3, 3, 3]"}),
            "error: the input has 4 channels, but the weight expects 3 in each of 1 groups");
  EXPECT_EQ(inferred("Conv", {"f32[1, 3, 2, 2]", "f32[8, 3, 3, 3]"}),
            "error: a window of 3 does not fit into a spatial extent of 2 with padding 0 and 0");
  EXPECT_EQ(inferred("Conv", {"f32[1, 3, 8, 8]", "f32[8, 3, 3, 3]"}, {}, {{"strides", List{0, 1}}}),
            "error: contains 0, expected 1 to 1073741824");
  const std::vector<Dims> in{{1, 3, 8, 8}, {16, 3, 3, 3}}, out{{1, 16, 6, 6}};
  EXPECT_EQ(flopsOf(nodeOf("Conv", 2), in, out), 2 * 16 * 36 * 27);
}

TEST(Conv, TransposedSpreadsTheWindow) {
  const Tensor x = floats({1, 1, 2, 2}, {1, 2, 3, 4}), ones = floats({1, 1, 2, 2}, {1, 1, 1, 1});
  expectFloats(run("ConvTranspose", {x, ones}), {1, 1, 3, 3}, {1, 3, 2, 4, 10, 6, 3, 7, 4});
  expectFloats(run("ConvTranspose", {x, ones}, {{"strides", List{2, 2}}}), {1, 1, 4, 4},
               {1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4});
}

TEST(Pooling, MaxWithIndicesAndCeil) {
  const Tensor x = floats({1, 1, 3, 3}, {1, 2, 3, 4, 9, 6, 7, 8, 5});
  const Attributes window{{"kernel_shape", List{2, 2}}, {"strides", List{2, 2}}, {"ceil_mode", Int{1}}};
  const auto result = run("MaxPool", {x}, window, 2);
  expectFloats(result, {1, 1, 2, 2}, {9, 6, 8, 5});
  expectInts(result, {1, 1, 2, 2}, {4, 5, 7, 8}, 1);
}

TEST(Pooling, AverageCountsPaddingIfAsked) {
  const Tensor x = floats({1, 1, 2, 2}, {4, 8, 12, 16});
  Attributes window{{"kernel_shape", List{2, 2}}, {"pads", List{1, 1, 0, 0}}};
  expectFloats(run("AveragePool", {x}, window), {1, 1, 2, 2}, {4, 6, 8, 10});
  window["count_include_pad"] = Int{1};
  expectFloats(run("AveragePool", {x}, window), {1, 1, 2, 2}, {1, 3, 4, 10});
  expectFloats(run("GlobalAveragePool", {x}), {1, 1, 1, 1}, {10});
  expectFloats(run("GlobalMaxPool", {x}), {1, 1, 1, 1}, {16});
  expectFloats(run("LpPool", {floats({1, 1, 2}, {3, 4})}, {{"kernel_shape", List{2}}}), {1, 1, 1}, {5});
  EXPECT_EQ(errorOf(run("MaxPool", {x})), "node 'n': attribute 'kernel_shape': is missing");
}

}  // namespace
}  // namespace fusescope::testing
