#include "verify/compare_tensors.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/json.h"
#include "tests/unit/verify/floats.h"

namespace fusescope {
namespace {

using testing::floats;

bool near(std::vector<float> actual, std::vector<float> expected, const Tolerance& tolerance) {
  return compareTensors("t", floats(std::move(actual)), floats(std::move(expected)), tolerance).ok;
}

TEST(CompareTensors, MeasuresDifferences) {
  const auto comparison = compareTensors("t", floats({3, 4.5F}), floats({3, 4}), Tolerance::standard());
  EXPECT_FALSE(comparison.ok);
  EXPECT_DOUBLE_EQ(comparison.maxAbs, 0.5);
  EXPECT_DOUBLE_EQ(comparison.maxRel, 0.125);
  EXPECT_DOUBLE_EQ(comparison.maxOverRms, 0.5 / std::sqrt(12.5));
  EXPECT_NEAR(comparison.cosine, (9 + 18) / (5 * std::sqrt(9 + 20.25)), 1e-12);
}

TEST(CompareTensors, ACosineThatDoesNotExistIsNoNumber) {
  EXPECT_EQ(cosineText(0.99999, 3), "1.000");
  EXPECT_EQ(cosineText(NAN, 3), "-");
}

TEST(CompareTensors, ContainersElementByElement) {
  const auto sequence = [](std::vector<Tensor> elements) {
    return Tensor::ofElements(Container::Sequence, DataType::F32, std::move(elements));
  };
  const Tensor expected = sequence({floats({1}), floats({3, 4})});
  EXPECT_TRUE(compareTensors("t", sequence({floats({1}), floats({3, 4})}), expected, Tolerance::standard()).ok);
  const auto off = compareTensors("t", sequence({floats({1}), floats({3, 4.5F})}), expected, Tolerance::standard());
  EXPECT_FALSE(off.ok);
  EXPECT_DOUBLE_EQ(off.maxAbs, 0.5);
  const auto extents = compareTensors("t", sequence({floats({1}), floats({3})}), expected, Tolerance::standard());
  EXPECT_EQ(extents.problem, "element 1 is f32[1], expected f32[2]");
  EXPECT_FALSE(compareTensors("t", sequence({floats({1})}), expected, Tolerance::standard()).ok);
  EXPECT_FALSE(compareTensors("t", floats({1}), expected, Tolerance::standard()).ok) << "a tensor is no sequence";
}

TEST(CompareTensors, RmsToleranceScalesWithTheExpected) {
  EXPECT_TRUE(near({1000.5F, 1000}, {1000, 1000}, {.rms = 1e-3}));
  EXPECT_FALSE(near({1002, 1000}, {1000, 1000}, {.rms = 1e-3}));
  EXPECT_TRUE(near({0, 0}, {0, 0}, {.rms = 1e-3}));
  EXPECT_FALSE(near({1e-30F, 0}, {0, 0}, {.rms = 1e-3})) << "exact where the expected is zero";
}

TEST(CompareTensors, EveryGivenBoundMustHold) {
  EXPECT_TRUE(near({100.5F}, {100}, {.absolute = 0.1, .relative = 0.01}));
  EXPECT_FALSE(near({102}, {100}, {.absolute = 0.1, .relative = 0.01}));
  EXPECT_FALSE(near({100.5F}, {100}, {.rms = 1e-6, .absolute = 1}));
  EXPECT_FALSE(near({100.5F}, {100}, {}));
  EXPECT_TRUE(near({100}, {100}, {}));
}

TEST(CompareTensors, NanAndInfinityEqualThemselves) {
  EXPECT_TRUE(near({NAN, INFINITY, -INFINITY, 1}, {NAN, INFINITY, -INFINITY, 1}, Tolerance::standard()));
  EXPECT_FALSE(near({1, 1}, {NAN, 1}, Tolerance::standard()));
  EXPECT_FALSE(near({NAN, 1}, {1, 1}, Tolerance::standard()));
  EXPECT_FALSE(near({INFINITY}, {-INFINITY}, Tolerance::standard()));
  EXPECT_FALSE(near({INFINITY, 1}, {3e38F, 1}, {.relative = 100.0}));
}

TEST(CompareTensors, TypesAndExtentsMustBeEqual) {
  const auto extents = compareTensors("t", floats({1, 2}), floats({1, 2, 3}), {.absolute = 9});
  EXPECT_FALSE(extents.ok);
  EXPECT_EQ(extents.problem, "is f32[2], expected f32[3]");
  EXPECT_FALSE(compareTensors("t", floats({1}), Tensor::ofInt64({1}), {.absolute = 9}).ok);
}

TEST(CompareTensors, IntegersAreExact) {
  const std::int64_t big = (std::int64_t{1} << 60) + 1;
  EXPECT_TRUE(compareTensors("t", Tensor::ofInt64({big}), Tensor::ofInt64({big}), Tolerance::standard()).ok);
  EXPECT_FALSE(compareTensors("t", Tensor::ofInt64({big - 1}), Tensor::ofInt64({big}), Tolerance::standard()).ok);
  EXPECT_FALSE(compareTensors("t", Tensor::ofInt64({10001}), Tensor::ofInt64({10000}), Tolerance::standard()).ok);
  EXPECT_TRUE(compareTensors("t", Tensor::ofInt64({10001}), Tensor::ofInt64({10000}), {.absolute = 1}).ok);
}

TEST(CompareTensors, AnInfinityOnOneSideHasNoAngle) {
  const auto overflowed = compareTensors("t", floats({1, INFINITY}), floats({1, 184000}), Tolerance::standard());
  EXPECT_FALSE(overflowed.ok);
  EXPECT_TRUE(std::isnan(overflowed.cosine));
}

TEST(CompareTensors, VeryLargeNumbersHaveAnErrorToo) {
  const auto doubles = [](std::vector<double> values) { return Tensor::copyOf<double>(DataType::F64, {2}, values); };
  const auto comparison = compareTensors("y", doubles({4e200, 1e200}), doubles({8e200, 1e200}), {.rms = 1e-3});
  EXPECT_FALSE(comparison.ok);
  EXPECT_NEAR(comparison.maxOverRms, 4 / std::sqrt(32.5), 1e-12);
  EXPECT_NEAR(comparison.cosine, 33 / std::sqrt(17.0 * 65), 1e-12);
}

TEST(CompareTensors, MissingTensorsFail) {
  const auto all = compareAll({{"a", floats({1})}}, {{"a", floats({1})}, {"b", floats({1})}}, Tolerance::standard());
  ASSERT_EQ(all.size(), 2U);
  EXPECT_TRUE(all[0].ok);
  EXPECT_FALSE(all[1].ok);
  EXPECT_EQ(all[1].problem, "is missing");
}

TEST(CompareTensors, JsonSaysNonFiniteNumbersAsText) {
  const Json json = toJson(compareTensors("t", floats({1}), floats({NAN}), Tolerance::standard()));
  EXPECT_EQ(json.at("max_abs"), "inf");
  EXPECT_EQ(json.at("ok"), false);
}

}  // namespace
}  // namespace fusescope
