#include "tests/unit/ops/ops_testing.h"

namespace fusescope::testing {
namespace {

using Int = std::int64_t;
using List = std::vector<Int>;

Result<std::vector<Tensor>> sampled(const std::string& mode, const std::string& padding, Int alignCorners = 0) {
  // Places (x, y): the middle, the outer corner of the first pixel, and far to the right.
  const Tensor grid = floats({1, 1, 3, 2}, {0, 0, -1, -1, 3, 0});
  return run("GridSample", {floats({1, 1, 2, 2}, {1, 2, 3, 4}), grid},
             {{"mode", mode}, {"padding_mode", padding}, {"align_corners", alignCorners}});
}

TEST(GridSample, ModesAndPadding) {
  expectFloats(sampled("linear", "zeros"), {1, 1, 1, 3}, {2.5F, 0.25F, 0});
  expectFloats(sampled("linear", "border"), {1, 1, 1, 3}, {2.5F, 1, 3});
  expectFloats(sampled("linear", "reflection"), {1, 1, 1, 3}, {2.5F, 1, 2});
  expectFloats(sampled("linear", "zeros", 1), {1, 1, 1, 3}, {2.5F, 1, 0});
  expectFloats(sampled("nearest", "zeros"), {1, 1, 1, 3}, {1, 1, 0});  // halves go to the even place
  expectFloats(sampled("nearest", "border"), {1, 1, 1, 3}, {1, 1, 2});
  expectFloats(sampled("cubic", "border", 1), {1, 1, 1, 3}, {2.5F, 1, 3});
}

TEST(GridSample, OneAndThreeAxesAndOtherTypes) {
  expectFloats(run("GridSample", {floats({1, 1, 4}, {0, 1, 2, 3}), floats({1, 2, 1}, {-0.5F, 0.25F})}), {1, 1, 2},
               {0.5F, 2});
  expectFloats(run("GridSample", {floats({1, 1, 2, 1, 2}, {1, 2, 3, 4}), floats({1, 1, 1, 1, 3}, {0, 0, -1})},
                   {{"align_corners", Int{1}}}),
               {1, 1, 1, 1, 1}, {1.5F});
  expectInts(run("GridSample", {ints({1, 1, 2}, {1, 4}), floats({1, 1, 1}, {0})}), {1, 1, 1}, {2});  // 2.5 is cut off
  const auto texts = run("GridSample", {Tensor::ofStrings({1, 1, 2}, {"a", "b"}), floats({1, 2, 1}, {0.5F, 9})},
                         {{"mode", "nearest"}});
  ASSERT_TRUE(texts.ok());
  EXPECT_EQ(texts.value()[0].strings(), (std::vector<std::string>{"b", ""}));
}

TEST(GridSample, StrangePlacesAndWrongExtents) {
  const Tensor x = floats({1, 1, 2}, {1, 2});
  expectFloats(run("GridSample", {x, floats({1, 3, 1}, {NAN, INFINITY, -1e30F})}), {1, 1, 3}, {0, 0, 0});
  expectFloats(run("GridSample", {x, floats({1, 3, 1}, {NAN, INFINITY, -1e30F})}, {{"padding_mode", "border"}}),
               {1, 1, 3}, {1, 2, 1});
  EXPECT_EQ(errorOf(run("GridSample", {x, floats({2, 1, 1}, {0, 0})})),
            "node 'n': input 1 (grid) is f32[2, 1, 1], expected f32[1, 1, 1]");
  EXPECT_EQ(errorOf(run("GridSample", {Tensor::ofStrings({1, 1, 1}, {"a"}), floats({1, 1, 1}, {0})})),
            "node 'n': attribute 'mode': elements of type string cannot be interpolated; only 'nearest' accepts them");
  EXPECT_EQ(inferred("GridSample", {"f32[n, 3, h, w]", "f32[n, 8, 9, 2]"}), "f32[n, 3, 8, 9]");
}

TEST(AffineGrid, PlacesMovedByTheMatrix) {
  const Tensor theta = floats({1, 2, 3}, {1, 0, 0.5F, 0, 2, 0}), size = ints({1, 1, 2, 2});
  expectFloats(run("AffineGrid", {theta, size}, {{"align_corners", Int{1}}}), {1, 2, 2, 2},
               {-0.5F, -2, 1.5F, -2, -0.5F, 2, 1.5F, 2});
  expectFloats(run("AffineGrid", {theta, size}), {1, 2, 2, 2}, {0, -1, 1, -1, 0, 1, 1, 1});
  EXPECT_EQ(errorOf(run("AffineGrid", {theta, ints({2, 1, 2, 2})})),
            "node 'n': input 0 (theta) is f32[1, 2, 3], expected f32[2, 2, 3]");
  EXPECT_EQ(errorOf(run("AffineGrid", {theta, ints({1, 1, 2})})), "node 'n': size has 3 entries, expected 4 or 5");
}

TEST(Col2Im, BlocksAddUpWhereTheyOverlap) {
  const std::vector<float> ones(16, 1.0F);
  expectFloats(run("Col2Im", {floats({1, 4, 4}, ones), ints({3, 3}), ints({2, 2})}), {1, 1, 3, 3},
               {1, 2, 1, 2, 4, 2, 1, 2, 1});
  expectFloats(run("Col2Im", {floats({1, 4, 4}, ones), ints({3, 3}), ints({2, 2})},
                   {{"pads", List{0, 0, 1, 1}}, {"strides", List{2, 2}}}),
               {1, 1, 3, 3}, std::vector<float>(9, 1.0F));
  EXPECT_EQ(errorOf(run("Col2Im", {floats({1, 4, 4}, ones), ints({4, 3}), ints({2, 2})})),
            "node 'n': the input has 4 columns, but the image has 6 blocks");
  EXPECT_EQ(errorOf(run("Col2Im", {floats({1, 4, 4}, ones), ints({3, 3}), ints({Int{1} << 40, 2})})),
            "node 'n': block_shape is [1099511627776, 2] and image_shape is [3, 3], expected extents from 1 to 2^30");
}

TEST(DeformConv, TapsMoveByTheirOffsets) {
  const Tensor x = floats({1, 1, 3, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8}), w = floats({1, 1, 2, 2}, {1, 1, 1, 1});
  const Tensor still = floats({1, 8, 2, 2}, std::vector<float>(32, 0));
  expectFloats(run("DeformConv", {x, w, still}), {1, 1, 2, 2}, {8, 12, 20, 24});
  std::vector<float> right(32, 0);  // for each tap: down, then across
  for (std::size_t i = 0; i < right.size(); ++i) right[i] = i / 4 % 2 == 1 ? 0.5F : 0;
  const Tensor moved = floats({1, 8, 2, 2}, right);
  expectFloats(run("DeformConv", {x, w, moved}), {1, 1, 2, 2}, {10, 9.5F, 22, 18.5F});
  const Tensor mask = floats({1, 4, 2, 2}, std::vector<float>(16, 0.5F)), bias = floats({1}, {1});
  expectFloats(run("DeformConv", {x, w, moved, bias, mask}), {1, 1, 2, 2}, {6, 5.75F, 12, 10.25F});
  EXPECT_EQ(errorOf(run("DeformConv", {x, w, mask})),
            "node 'n': input 2 (offset) is f32[1, 4, 2, 2], expected f32[1, 8, 2, 2]");
  EXPECT_EQ(errorOf(run("DeformConv", {x, w, still}, {{"offset_group", Int{2}}})),
            "node 'n': attribute 'offset_group': 2 does not divide the number of input channels");
}

TEST(Resize, TheNearestElementIsMovedWhateverItsType) {
  const Tensor twice = floats({1}, {2});
  const auto texts = run("Resize", {Tensor::ofStrings({2}, {"a", "b"}), Tensor(), twice}, {{"mode", "nearest"}});
  ASSERT_TRUE(texts.ok()) << texts.error().text();
  EXPECT_EQ(texts.value()[0].strings(), (std::vector<std::string>{"a", "a", "b", "b"}));
  const Int large = (Int{1} << 60) + 1;  // more digits than a double has
  expectInts(run("Resize", {ints({large, 2}), Tensor(), twice}, {{"mode", "nearest"}}), {4}, {large, large, 2, 2});
  const Attributes cropped{
      {"mode", "nearest"}, {"coordinate_transformation_mode", "tf_crop_and_resize"}, {"extrapolation_value", 9.0F}};
  expectFloats(run("Resize", {floats({3}, {1, 2, 3}), floats({2}, {0, 1.5F}), Tensor(), ints({4})}, cropped), {4},
               {1, 2, 3, 9});
  EXPECT_EQ(errorOf(run("Resize", {Tensor::ofStrings({2}, {"a", "b"}), Tensor(), twice}, {{"mode", "linear"}})),
            "node 'n': attribute 'mode': elements of type string cannot be interpolated; only 'nearest' accepts them");
}

TEST(Resize, OneElementIsTheFirstWithPytorchHalfPixel) {
  expectFloats(run("Resize", {floats({4}, {1, 2, 3, 4}), Tensor(), Tensor(), ints({1})},
                   {{"mode", "cubic"}, {"coordinate_transformation_mode", "pytorch_half_pixel"}}),
               {1}, {1});
}

}  // namespace
}  // namespace fusescope::testing
