// Tensors that are read where they lie, also where one axis is several in memory, and at other extents.
#include "backends/native/operand_view.h"

#include <gtest/gtest.h>

namespace fusescope::native {
namespace {

Ref whole(const Dims& dims) {
  return {.buffer = 3, .dtype = DataType::F32, .dims = dims, .strides = rowMajorStrides(dims)};
}

TEST(View, OfGroupedHeadsRepeatsThemWhereTheyLie) {
  View view(whole({1, 2, 5, 8}));
  ASSERT_TRUE(view.reshape({1, 2, 1, 5, 8}));
  ASSERT_TRUE(view.broadcast({1, 2, 3, 5, 8}));
  ASSERT_TRUE(view.reshape({1, 6, 5, 8}));
  EXPECT_EQ(view.dims(), (Dims{1, 6, 5, 8}));
  EXPECT_FALSE(view.ref()) << "no one stride says where the six heads are";
  EXPECT_EQ(view.inMemory(0, 2), (Dims{2, 3}));
  EXPECT_EQ(view.split().dims, (Dims{2, 3, 5, 8}));
  EXPECT_EQ(view.split().strides, (Dims{40, 0, 8, 1}));
  ASSERT_TRUE(view.transpose({0, 1, 3, 2}));
  ASSERT_TRUE(view.reshape({2, 3, 8, 5}));
  const auto ref = view.ref();
  ASSERT_TRUE(ref);
  EXPECT_EQ(ref->strides, (Dims{40, 0, 1, 8}));
  EXPECT_EQ(ref->buffer, 3);
}

TEST(View, TakesAxesApartAndTogether) {
  View view(whole({6, 4}));
  ASSERT_TRUE(view.reshape({8, 3}));
  EXPECT_EQ(view.ref()->strides, (Dims{3, 1}));
  ASSERT_TRUE(view.reshape({4, 6}) && view.transpose({1, 0}));
  EXPECT_EQ(view.ref()->strides, (Dims{1, 6}));
  View moved = view;
  ASSERT_TRUE(moved.reshape({3, 8}));
  EXPECT_FALSE(moved.ref());
  ASSERT_TRUE(moved.reshape({6, 4}));
  EXPECT_EQ(moved.ref()->strides, (Dims{1, 6})) << "as it was before";
  EXPECT_FALSE(view.reshape({4, 6})) << "rows of four do not fall into rows of six";
}

TEST(View, OfOneElementAlongAnAxisLiesAsItWere) {
  View view(whole({1, 7, 1}));
  ASSERT_TRUE(view.reshape({7, 1, 1}));
  EXPECT_EQ(view.ref()->strides, (Dims{1, 1, 1}));
  EXPECT_TRUE(view.ref()->contiguous());
}

TEST(View, OfAPartBeginsWhereItDoes) {
  View view(whole({4, 10}));
  ASSERT_TRUE(view.slice({{1, 2}, {9, -3}}, {2, 4}));
  EXPECT_EQ(view.ref()->offset, 10 + 9);
  EXPECT_EQ(view.ref()->strides, (Dims{20, -3}));
  View grouped(whole({2, 1, 3}));
  ASSERT_TRUE(grouped.broadcast({2, 5, 3}) && grouped.reshape({10, 3}));
  View same = grouped;
  EXPECT_TRUE(same.slice({{0, 1}, {1, 1}}, {10, 2}));
  EXPECT_FALSE(grouped.slice({{3, 1}, {0, 1}}, {7, 3})) << "the axis is two in memory";
}

TEST(View, OfNoElementsNeedsNone) {
  View view(whole({2, 0, 3}));
  ASSERT_TRUE(view.transpose({2, 0, 1}) && view.reshape({0, 5}));
  EXPECT_EQ(view.ref()->dims, (Dims{0, 5}));
}

TEST(ViewOrigin, IsWorkedOutForOtherExtents) {
  const ExtentSource input{.from = ExtentSource::From::Input, .at = 0},
      inner{.from = ExtentSource::From::Inner, .at = 0};
  Ref operand = whole({2, 1, 3});
  const ViewOrigin origin{
      .operand = operand,
      .whole = input,
      .looks = {[](View& view, const RegionExtents&) {
                  return view.transpose({1, 0, 2});
                },
                [inner](View& view, const RegionExtents& extents) { return view.reshape(inner.in(extents)); }}};
  const auto one = origin.at({.inputs = {{2, 1, 3}}, .outputs = {}, .inner = {{1, 6}}});
  ASSERT_TRUE(one && one->ref());
  EXPECT_EQ(one->ref()->strides, (Dims{6, 1}));
  const auto four = origin.at({.inputs = {{2, 4, 3}}, .outputs = {}, .inner = {{4, 6}}});
  ASSERT_TRUE(four);
  EXPECT_FALSE(four->ref()) << "rows lie apart now";
  EXPECT_EQ(four->split().strides, (Dims{3, 12, 1}));
}

TEST(NewExtents, KnowOperandsThatAreReadAsTheyLie) {
  const RegionExtents before{.inputs = {{1, 1}, {4}}, .outputs = {{1, 1}}, .inner = {{1}}};
  const RegionExtents after{.inputs = {{5, 5}, {4}}, .outputs = {{5, 5}}, .inner = {{5}}};
  const ScratchValues scratch(4);
  const NewExtents extents(before, after, scratch);
  EXPECT_TRUE(extents.changes(0) && extents.changes(2) && extents.changesInside());
  EXPECT_FALSE(extents.changes(1) || extents.changes(3));
  Ref operand{.buffer = 0, .dtype = DataType::F32, .dims = {1, 1}, .strides = {1, 1}, .isWhole = true};
  ASSERT_TRUE(extents.at(operand));
  EXPECT_EQ(extents.at(operand)->strides, (Dims{5, 1}));
  operand.isWhole = false;
  EXPECT_FALSE(extents.at(operand)) << "a transposition of one element looks like the element itself";
  const Ref repeated{.buffer = 1, .dtype = DataType::F32, .dims = {1, 4}, .strides = {0, 1}};
  EXPECT_FALSE(extents.at(repeated)) << "how often may depend on what is inside";
}

}  // namespace
}  // namespace fusescope::native
