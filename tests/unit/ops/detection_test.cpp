#include "tests/unit/ops/ops_testing.h"

namespace fusescope::testing {
namespace {

using Int = std::int64_t;

TEST(NonZero, PlacesAxisByAxis) {
  expectInts(run("NonZero", {bools({2, 2}, {1, 0, 1, 1})}), {2, 3}, {0, 1, 1, 0, 0, 1});
  expectInts(run("NonZero", {floats({3}, {0, -0.0F, NAN})}), {1, 1}, {2});
  expectInts(run("NonZero", {Tensor::ofStrings({2}, {"", "a"})}), {1, 1}, {1});
  expectInts(run("NonZero", {floats({}, {5})}), {0, 1}, {});
  EXPECT_EQ(inferred("NonZero", {"f32[a, b]"}), "int64[2, ?]");
}

struct Boxes {
  Tensor boxes = floats({1, 3, 4}, {0, 0, 1, 1, 0, 0.1F, 1, 1.1F, 0, 10, 1, 11});
  Tensor scores = floats({1, 1, 3}, {0.75F, 0.9F, 0.6F});
  Result<std::vector<Tensor>> kept(Int most, float overlap, std::optional<float> score = {}) const {
    return run("NonMaxSuppression",
               {boxes, scores, ints({most}), floats({}, {overlap}), score ? floats({}, {*score}) : Tensor()});
  }
};

TEST(NonMaxSuppression, KeepsTheBestOfThoseThatOverlap) {
  const Boxes boxes;  // the first two overlap by 0.9 / 1.1
  expectInts(boxes.kept(3, 0.5F), {2, 3}, {0, 0, 1, 0, 0, 2});
  expectInts(boxes.kept(3, 0.82F), {3, 3}, {0, 0, 1, 0, 0, 0, 0, 0, 2});
  expectInts(boxes.kept(1, 0.82F), {1, 3}, {0, 0, 1});
  expectInts(boxes.kept(3, 0.82F, 0.6F), {2, 3}, {0, 0, 1, 0, 0, 0});
  expectInts(boxes.kept(0, 0.82F), {0, 3}, {});
  expectInts(run("NonMaxSuppression", {boxes.boxes, boxes.scores}), {0, 3}, {});
}

TEST(NonMaxSuppression, AnyCornersCentresAndEqualOverlap) {
  const Tensor one = ints({5}), all = floats({}, {1}), scores = floats({1, 1, 2}, {1, 1});
  const Tensor same = floats({1, 2, 4}, {1, 1, 0, 0, 0, 1, 1, 0});  // the same box, given by other corners
  expectInts(run("NonMaxSuppression", {same, scores, one, all}), {2, 3}, {0, 0, 0, 0, 0, 1});
  expectInts(run("NonMaxSuppression", {same, scores, one, floats({}, {0.99F})}), {1, 3}, {0, 0, 0});
  const Tensor centred = floats({1, 2, 4}, {5, 5, 2, 2, 6.5F, 5, 2, 2});  // overlap 1 of 7
  const Attributes centres{{"center_point_box", Int{1}}};
  expectInts(run("NonMaxSuppression", {centred, scores, one, floats({}, {0.1F})}, centres), {1, 3}, {0, 0, 0});
  expectInts(run("NonMaxSuppression", {centred, scores, one, floats({}, {0.2F})}, centres), {2, 3}, {0, 0, 0, 0, 0, 1});
}

TEST(NonMaxSuppression, WhatDoesNotFitIsSaid) {
  const Boxes boxes;
  EXPECT_EQ(errorOf(boxes.kept(1, 1.5F)), "node 'n': iou_threshold is 1.5, expected 0 to 1");
  EXPECT_EQ(inferred("NonMaxSuppression", {"f32[1, 3, 5]", "f32[1, 1, 3]"}),
            "error: input 0 (boxes) is f32[1, 3, 5], expected f32[1, 3, 4]");
  EXPECT_EQ(inferred("NonMaxSuppression", {"f32[1, 3, 4]", "f32[1, 1, 4]"}),
            "error: the numbers of boxes in boxes and in scores must be equal, but are 3 and 4");
}

Tensor counting(Dims dims) {
  std::vector<float> values;
  for (Int i = 0; i < elementCount(dims).value(); ++i) values.push_back(static_cast<float>(i));
  return floats(std::move(dims), std::move(values));
}

TEST(RoiAlign, SamplesBetweenPixels) {
  const Tensor x = counting({1, 1, 4, 4}), roi = floats({1, 4}, {0, 0, 2, 2}), image = ints({0});
  Attributes attributes{{"sampling_ratio", Int{1}}, {"coordinate_transformation_mode", "output_half_pixel"}};
  expectFloats(run("RoiAlign", {x, roi, image}, attributes), {1, 1, 1, 1}, {5});
  attributes["coordinate_transformation_mode"] = "half_pixel";
  expectFloats(run("RoiAlign", {x, roi, image}, attributes), {1, 1, 1, 1}, {2.5F});
  attributes["mode"] = "max";  // the largest of the four weighted neighbours
  expectFloats(run("RoiAlign", {x, roi, image}, attributes), {1, 1, 1, 1}, {1.25F});
  // Without a ratio a bin of 2 × 2 pixels takes 2 × 2 samples: pixels 0, 1, 4 and 5.
  expectFloats(run("RoiAlign", {x, roi, image}), {1, 1, 1, 1}, {2.5F});
  expectFloats(run("RoiAlign", {x, roi, image}, {{"output_height", Int{2}}, {"output_width", Int{2}}}), {1, 1, 2, 2},
               {0, 1, 4, 5});
}

TEST(RoiAlign, AbsurdRegionsAreRefused) {
  const Tensor x = counting({1, 1, 4, 4}), image = ints({0});
  EXPECT_EQ(errorOf(run("RoiAlign", {x, floats({1, 4}, {0, 0, 1e30F, 2}), image})),
            "node 'n': a region extends from -0.5 to 1.0000000150474662e+30, which cannot be sampled");
  EXPECT_EQ(errorOf(run("RoiAlign", {x, floats({1, 4}, {0, 0, 2, 2}), ints({3})})),
            "node 'n': a region refers to image 3, but the batch has 1 images");
  EXPECT_EQ(errorOf(run("RoiAlign", {x, floats({1, 4}, {0, 0, 2, 2}), image}, {{"sampling_ratio", Int{1} << 40}})),
            "node 'n': attribute 'sampling_ratio': is 1099511627776, expected 0 to 2048");
  EXPECT_EQ(errorOf(run("RoiAlign", {x, floats({1, 4}, {0, 0, 2, 2}), image}, {{"output_width", Int{0}}})),
            "node 'n': attribute 'output_width': is 0, expected at least 1");
}

TEST(MaxRoiPool, LargestPixelOfEachBin) {
  const Tensor x = counting({1, 1, 4, 4});
  const Attributes pooled{{"pooled_shape", std::vector<Int>{2, 2}}};
  expectFloats(run("MaxRoiPool", {x, floats({2, 5}, {0, 0, 0, 3, 3, 0, 9, 9, 12, 12})}, pooled), {2, 1, 2, 2},
               {5, 7, 13, 15, 0, 0, 0, 0});
  EXPECT_EQ(errorOf(run("MaxRoiPool", {x, floats({1, 5}, {0, 0, 0, 3, 3})})),
            "node 'n': attribute 'pooled_shape': must be given as a height and a width, both positive");
}

TEST(Select, NotANumberCountsAsTheLargestAndEqualsItself) {
  const Tensor x = floats({4}, {NAN, 2, NAN, 1});
  expectFloats(run("Unique", {x}, {}, 4), {3}, {1, 2, NAN});
  expectInts(run("Unique", {x}, {}, 4), {4}, {2, 1, 2, 0}, 2);
  expectInts(run("TopK", {x, ints({3})}, {}, 2), {3}, {0, 2, 1}, 1);
  expectInts(run("TopK", {x, ints({3})}, {{"largest", Int{0}}}, 2), {3}, {3, 1, 0}, 1);
}

}  // namespace
}  // namespace fusescope::testing
