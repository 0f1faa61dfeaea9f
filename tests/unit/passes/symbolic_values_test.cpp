// Extents that are only named stay related through the arithmetic of shapes that exporters write.
#include <gtest/gtest.h>

#include "ops/symbolic_values.h"
#include "tests/unit/passes/prepared_model.h"

namespace fusescope::test {
namespace {

TEST(SymbolicValues, HeadsAreSplitAndMergedAgain) {
  const Model model = prepared(
      "g (float[batch, seq, 12] x) => (float[b, s, h] y) <int64 zero = {0}, int64 one = {1}, int64[1] first = {0},"
      "  int64[1] heads = {3}, int64[1] width = {4}, int64[1] rest = {-1}> {"
      "  s = Shape (x) b0 = Gather <axis=0> (s, zero) s0 = Gather <axis=0> (s, one)"
      "  b1 = Unsqueeze (b0, first) s1 = Unsqueeze (s0, first)"
      "  split = Concat <axis=0> (b1, s1, heads, width) h = Reshape (x, split) t = Transpose <perm=[0,2,1,3]> (h)"
      "  back = Transpose <perm=[0,2,1,3]> (t) merged = Concat <axis=0> (b1, s1, rest) y = Reshape (back, merged) }");
  EXPECT_EQ(typeOfValue(model, "h"), "f32[batch, seq, 3, 4]");
  EXPECT_EQ(typeOfValue(model, "t"), "f32[batch, 3, seq, 4]");
  EXPECT_EQ(typeOfValue(model, "y"), "f32[batch, seq, 12]");
}

TEST(SymbolicValues, AnExtentThatIsKnownIsFoldedBesideOnesThatAreNot) {
  const Model model = prepared(
      "g (float[n, 6] x) => (float[a, b] y) <int64[1] last = {1}, int64[1] two = {2}, int64[1] rest = {-1}> {"
      "  s = Shape (x) c = Gather <axis=0> (s, last) h = Div (c, two) t = Concat <axis=0> (rest, h) [r] y = Reshape "
      "(x, t) }");
  EXPECT_EQ(model.graph->nodeCount(), 1U);
  EXPECT_EQ(model.graph->node(model.graph->order()[0]).name, "r");
}

TEST(SymbolicValues, ShapesOfOtherTensorsDecide) {
  const Model model = prepared(
      "g (float[n, k] x, float[1, k] row, float[m, 9] wide) => (float[a, b] e, float[c, d] z, float[p, q] t, float[i, "
      "j] u)"
      "  <int64[2] origin = {0, 0}, int64[1] one = {1}, int64[1] zero = {0}> {"
      "  s = Shape (x) e = Expand (row, s) z = ConstantOfShape (s)"
      "  n = Slice (s, zero, one) r = Concat <axis=0> (n, one) t = Tile (row, r)"
      "  m = Shape <start=0, end=1> (wide) u = Slice (wide, zero, m, zero) }");
  EXPECT_EQ(typeOfValue(model, "e"), "f32[n, k]");
  EXPECT_EQ(typeOfValue(model, "z"), "f32[n, k]");
  EXPECT_EQ(typeOfValue(model, "t"), "f32[n, k]");
  EXPECT_EQ(typeOfValue(model, "u"), "f32[m, 9]");
}

TEST(SymbolicValues, PositionsAreCounted) {
  const Model model = prepared(
      "g (int64[batch, seq] ids) => (int64[p] y) <int64 zero = {0}, int64 one = {1}> {"
      "  s = Shape (ids) n = Gather <axis=0> (s, one) c = Cast <to=7> (n) m = Mul (c, one) y = Range (zero, m, one) }");
  EXPECT_EQ(typeOfValue(model, "y"), "int64[seq]");
}

TEST(SymbolicValues, MinusOneMeansAsItIs) {
  const Model model = prepared(
      "g (float[n, 1] x, float[n, 5] like) => (float[a, b] y) <int64[2] ones = {1, 1}, int64 minus = {-1}> {"
      "  s = Shape (like) e = Equal (s, minus) w = Where (e, ones, s) y = Expand (x, w) }");
  EXPECT_EQ(typeOfValue(model, "y"), "f32[n, 5]");
}

TEST(SymbolicValues, ResizedToTheSizeOfAnother) {
  const Model model = prepared(
      "g (float[n, 3, h, w] x, float[n, 8, hh, ww] like) => (float[a, b, c, d] y)"
      "  <int64[1] two = {2}, int64[1] four = {4}, int64[1] zero = {0}> {"
      "  s = Shape (x) front = Slice (s, zero, two) l = Shape (like) back = Slice (l, two, four)"
      "  sizes = Concat <axis=0> (front, back) y = Resize <mode=\"linear\"> (x, , , sizes) }");
  EXPECT_EQ(typeOfValue(model, "y"), "f32[n, 3, hh, ww]");
}

TEST(SymbolicValues, ArithmeticOfSeveralExtentsIsAnExpression) {
  const Model model = prepared(
      "g (float[n, k] x) => (float[a] flat, float[b, c] z, int64[d] r) <int64 zero = {0}, int64 one = {1}, int64[1] "
      "rest = {-1},"
      "  int64[1] two = {2}> {"
      "  flat = Reshape (x, rest) s = Shape (x) t = Mul (s, two) z = ConstantOfShape (t)"
      "  n = Gather <axis=0> (s, zero) m = Sub (n, one) r = Range (zero, m, one) }");
  EXPECT_EQ(typeOfValue(model, "flat"), "f32[k*n]");
  EXPECT_EQ(typeOfValue(model, "z"), "f32[2*n, 2*k]");
  EXPECT_EQ(typeOfValue(model, "r"), "int64[max(n - 1, 0)]");
}

TEST(SymbolicValues, AReshapeToItsOwnShapeGoes) {
  const Model model =
      prepared("g (float[n, k] x) => (float[n, k] y) { s = Shape (x) a = Relu (x) b = Reshape (a, s) y = Neg (b) }");
  EXPECT_EQ(countCode(model, "normalise.noop_removed"), 1U);
  EXPECT_EQ(model.graph->nodeCount(), 2U);
}

TEST(SymbolicValues, TensorsAreMadeOfNumbersOnly) {
  const TensorType type{DataType::I32, Shape::of(Dims{2})};
  const SymbolicInts numbers = {3, 4};
  const auto tensor = tensorOf(numbers, type);
  ASSERT_TRUE(tensor.has_value());
  EXPECT_EQ(tensor->type(), DataType::I32);
  EXPECT_EQ(int64Values(*tensor), (std::vector<std::int64_t>{3, 4}));
  EXPECT_FALSE(tensorOf({3, ExtentExpression::symbol("n")}, type).has_value());
  EXPECT_EQ(symbolicOf(*tensor), std::optional(numbers));
}

}  // namespace
}  // namespace fusescope::test
