// Rows, moves and resampling over extents below, at and above whole vectors and tiles, on this CPU and as on one
// without 512-bit vectors.
#include <gtest/gtest.h>
#include <hwy/highway.h>

#include "tests/unit/backends_native/tactic_testing.h"

namespace fusescope::testing {
namespace {

constexpr std::int64_t kWidths[] = {1, 3, 7, 8, 9, 15, 16, 17, 31, 33, 49, 64, 65, 130};

void checkRows() {
  for (const std::int64_t width : kWidths) {
    Net softmax;
    EXPECT_GE(softmax.check(softmax.add("Softmax", {softmax.input({5, width})}, {{"axis", std::int64_t{-1}}})), 1);
    Net logarithm;
    EXPECT_GE(logarithm.check(logarithm.add("LogSoftmax", {logarithm.input({5, width})})), 1);
    Net norm;
    EXPECT_GE(norm.check(norm.add("LayerNormalization",
                                  {norm.input({5, width + 1}), norm.weights({width + 1}), norm.weights({width + 1})})),
              1);
    for (const char* reduction : {"ReduceSum", "ReduceMax", "ReduceMin", "ReduceMean", "ReduceL2", "ReduceL1"}) {
      Net net;
      EXPECT_GE(net.check(net.add(reduction, {net.input({4, width}), net.ints({1})})), 1) << reduction << width;
    }
  }
}

void checkTranspositions() {
  for (const Dims& dims : {Dims{2, 3, 5}, Dims{1, 16, 16}, Dims{3, 17, 33}, Dims{1, 64, 96}, Dims{2, 20, 4}}) {
    for (const Ints& order : {Ints{0, 2, 1}, Ints{2, 1, 0}, Ints{1, 2, 0}, Ints{2, 0, 1}, Ints{1, 0, 2}}) {
      Net net;
      EXPECT_GE(net.check(net.add("Transpose", {net.input(dims)}, {{"perm", order}})), 1);
      Net bytes;
      const ValueId moved = bytes.add("Transpose", {bytes.input(dims, DataType::I8)}, {{"perm", order}});
      EXPECT_GE(bytes.check(bytes.add("Cast", {moved}, {{"to", std::int64_t{1}}})), 1);
    }
  }
}

void checkBorders() {
  for (const Ints& pads : {Ints{0, 0, 1, 1, 0, 0, 1, 1}, Ints{0, 0, 0, 0, 0, 0, 8, 3}, Ints{1, 2, -1, 0, 0, 1, 20, -2},
                           Ints{0, 0, 0, 0, 0, 0, 0, 0}, Ints{0, 0, -3, 4, 0, 0, -2, 0}}) {
    Net net;
    EXPECT_GE(net.check(net.add("Pad", {net.input({2, 3, 5, 18}), net.ints(pads), net.number(0.25f)})), 1);
    Net zero;
    EXPECT_GE(zero.check(zero.add("Pad", {zero.input({2, 3, 5, 18}), zero.ints(pads)})), 1);
  }
}

void checkResampling() {
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    for (const float scale : {0.4f, 1.3f, 2.0f, 3.0f}) {
      for (const std::int64_t width : {5, 16, 37, 70}) {
        Net net;
        EXPECT_GE(
            net.check(net.add("Resize", {net.input({1, 2, 9, width}), ValueId(), net.numbers({1, 1, scale, scale})},
                              {{"mode", std::string(mode)}})),
            1)
            << mode << " by " << scale << " of " << width;
      }
    }
  }
}

void checkProducts() {
  for (const std::int64_t rows : {1, 2, 5, 13, 25})
    for (const std::int64_t columns : {1, 7, 16, 17, 40, 65}) {
      Net net;
      EXPECT_GE(net.check(net.add("MatMul", {net.input({rows, 330}), net.weights({330, columns})})), 1);
    }
  Net attention;
  const ValueId p =
      attention.add("Softmax", {attention.add("MatMul", {attention.input({2, 37, 9}), attention.input({2, 9, 300})})},
                    {{"axis", std::int64_t{-1}}});
  EXPECT_GE(attention.check(attention.add("MatMul", {p, attention.input({2, 300, 21})})), 1);
}

void checkPointwise() {
  for (const std::int64_t width : kWidths) {
    Net net;
    const ValueId norm = net.add("BatchNormalization", {net.input({2, 5, width}), net.weights({5}), net.weights({5}),
                                                        net.weights({5}), net.positive({5})});
    EXPECT_GE(net.check(net.add("Gelu", {net.add("Mul", {norm, net.weights({width})})})), 1);
  }
}

void checkAll() {
  checkRows();
  checkTranspositions();
  checkBorders();
  checkResampling();
  checkProducts();
  checkPointwise();
}

TEST(VectorTails, Rows) {
  checkRows();
}
TEST(VectorTails, Transpositions) {
  checkTranspositions();
}
TEST(VectorTails, Borders) {
  checkBorders();
}
TEST(VectorTails, Resampling) {
  checkResampling();
}
TEST(VectorTails, Products) {
  checkProducts();
}
TEST(VectorTails, Pointwise) {
  checkPointwise();
}

// In a process of its own: kernels choose their instruction set once.
TEST(VectorTails, WithoutWideVectors) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const std::int64_t disabled : {HWY_AVX3 | HWY_AVX3_DL, HWY_AVX3 | HWY_AVX3_DL | HWY_AVX2}) {
    EXPECT_EXIT(
        {
          hwy::DisableTargets(disabled);
          checkAll();
          std::exit(::testing::Test::HasFailure() ? 1 : 0);
        },
        ::testing::ExitedWithCode(0), "");
  }
}

}  // namespace
}  // namespace fusescope::testing
