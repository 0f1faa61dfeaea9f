// How far an element may be off: at first little, then as far as disturbed runs are, and only it.
#include "verify/element_bounds.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/verify/floats.h"
#include "verify/rounding_noise.h"

namespace fusescope {
namespace {

using testing::floats;

TEST(ElementBounds, OneThatTurnsWidensNoOther) {
  ElementBounds bounds(floats({1, 1, 1, 1}));
  EXPECT_TRUE(bounds.holds(1, 1.00001));
  EXPECT_FALSE(bounds.holds(1, 1.1));
  bounds.include(floats({1, 1.1F, 1, 1}));
  EXPECT_TRUE(bounds.holds(1, 1.1));
  EXPECT_TRUE(bounds.holds(1, 1.19)) << "twice as far, to that side";
  EXPECT_FALSE(bounds.holds(1, 1.21));
  EXPECT_FALSE(bounds.holds(1, 0.95)) << "not to the other side";
  for (const int other : {0, 2, 3}) EXPECT_FALSE(bounds.holds(other, 1.1)) << other;
  EXPECT_TRUE(bounds.heldAtFirst(1, 1.00001));
  EXPECT_FALSE(bounds.heldAtFirst(1, 1.1)) << "that it is held now is said";
}

TEST(ElementBounds, IntegersAreWhereARunPutThem) {
  ElementBounds bounds(floats({3, 3}, DataType::I8));
  EXPECT_FALSE(bounds.holds(0, 4));
  bounds.include(floats({4, 3}, DataType::I8));
  EXPECT_TRUE(bounds.holds(0, 4));
  EXPECT_FALSE(bounds.holds(0, 5));
  EXPECT_FALSE(bounds.holds(0, 2));
  EXPECT_FALSE(bounds.holds(1, 4));
}

TEST(ElementBounds, NaNIsNaNUnlessARunMakesANumber) {
  ElementBounds bounds(floats({NAN, 1}));
  EXPECT_TRUE(bounds.holds(0, NAN));
  EXPECT_FALSE(bounds.holds(0, 0));
  EXPECT_FALSE(bounds.holds(1, NAN));
  bounds.include(floats({2, NAN}));
  EXPECT_TRUE(bounds.holds(0, 2));
  EXPECT_TRUE(bounds.holds(1, NAN));
  EXPECT_TRUE(bounds.holds(1, 1));
}

TEST(ElementBounds, AnInfinityIsTheLastNumberButForARounding) {
  const ElementBounds bounds(floats({INFINITY, 65504, 1}, DataType::F16));
  EXPECT_TRUE(bounds.holds(0, 65504));
  EXPECT_TRUE(bounds.holds(1, INFINITY));
  EXPECT_FALSE(bounds.holds(0, 60000));
  EXPECT_FALSE(bounds.holds(2, INFINITY));
}

/// What `node` gives of `operand`, both disturbed in run `run`.
Tensor disturbed(const char* op, const Tensor& operand, std::uint64_t run) {
  Graph graph;
  const Node node{.id = NodeId(0), .op = op, .name = op};
  RoundingNoise noise(graph, run);
  std::vector<Tensor> tensors{operand};
  noise.disturbResults(node, tensors);
  return tensors.front();
}

TEST(RoundingNoise, TwoRunsAreOffToOppositeSides) {
  const Tensor ones = floats(std::vector<float>(200, 1.0F));
  for (const std::uint64_t run : {0U, 2U, 4U, 6U}) {
    const Tensor a = disturbed("Exp", ones, run), b = disturbed("Exp", ones, run + 1);
    for (std::int64_t i = 0; i < 200; ++i) {
      EXPECT_NE(a.asDouble(i), 1);
      EXPECT_NE(a.asDouble(i) > 1, b.asDouble(i) > 1) << i;
    }
  }
}

TEST(RoundingNoise, WhatIsPickedIsExactAndZeroStays) {
  const Tensor numbers = floats({0, 1, -2, INFINITY});
  for (const char* op : {"Relu", "Max", "Transpose", "Floor", "Where"})
    EXPECT_TRUE(disturbed(op, numbers, 0).identical(numbers)) << op;
  const Tensor off = disturbed("Add", numbers, 0);
  EXPECT_EQ(off.asDouble(0), 0);
  EXPECT_NEAR(off.asDouble(1), 1, 3e-7);
  EXPECT_NE(off.asDouble(1), 1);
  EXPECT_EQ(off.asDouble(3), INFINITY);
}

}  // namespace
}  // namespace fusescope
