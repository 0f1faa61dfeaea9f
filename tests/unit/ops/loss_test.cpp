#include "tests/unit/ops/ops_testing.h"

namespace fusescope::testing {
namespace {

using Int = std::int64_t;

// The examples of the operator's page.
struct Example {
  Tensor scores = floats({2, 3, 2}, {1, 2, 2, 2, 3, 2, 0, 1, 2, 2, 1, 2});
  Tensor labels = ints({2, 2}, {2, 1, 0, 2});
  Tensor weights = floats({3}, {0.2F, 0.3F, 0.1F});
};

TEST(NegativeLogLikelihoodLoss, ReductionsAndWeights) {
  const Example e;
  const auto loss = [&](std::vector<Tensor> inputs, Attributes attributes) {
    return run("NegativeLogLikelihoodLoss", std::move(inputs), std::move(attributes));
  };
  expectFloats(loss({e.scores, e.labels}, {{"reduction", "none"}}), {2, 2}, {-3, -2, 0, -2});
  expectFloats(loss({e.scores, e.labels, e.weights}, {{"reduction", "sum"}}), {}, {-1.1F});
  expectFloats(loss({e.scores, e.labels, e.weights}, {}), {}, {-1.1F / 0.7F});
  expectFloats(loss({e.scores, e.labels}, {}), {}, {-1.75F});
  expectFloats(loss({e.scores, e.labels}, {{"ignore_index", Int{2}}}), {}, {-1});  // -2 and 0 count
  EXPECT_EQ(errorOf(loss({e.scores, ints({2, 2}, {2, 1, 0, 3})}, {})),
            "node 'n': label 3 is 3, but there are 3 classes. If this label is to be ignored, set the attribute "
            "ignore_index to it.");
  EXPECT_EQ(errorOf(loss({e.scores, ints({2}, {0, 0})}, {})),
            "node 'n': input 1 (labels) is int64[2], expected int64[2, 2]");
}

TEST(SoftmaxCrossEntropyLoss, GivesTheLogarithmsToo) {
  const auto result = run("SoftmaxCrossEntropyLoss", {floats({1, 2}, {1000, 1000}), ints({1}, {0})}, {}, 2);
  expectFloats(result, {}, {std::log(2.0F)});
  expectFloats(result, {1, 2}, {-std::log(2.0F), -std::log(2.0F)}, 1e-5F, 1);
  expectFloats(run("SoftmaxCrossEntropyLoss", {floats({2, 2}, {0, 0, 0, std::log(3.0F)}), ints({-1, 1})},
                   {{"ignore_index", Int{-1}}, {"reduction", "none"}}),
               {2}, {0, std::log(4.0F / 3)});
}

TEST(BatchNormalization, InTrainingTheBatchGivesTheStatistics) {
  const Tensor zero = floats({1}, {0}), one = floats({1}, {1});
  const float r = std::sqrt(5.0F);  // the mean of 1, 3, 5, 7 is 4, the variance 5
  const auto result = run("BatchNormalization", {floats({2, 1, 2}, {1, 3, 5, 7}), one, zero, zero, one},
                          {{"training_mode", Int{1}}, {"momentum", 0.5F}, {"epsilon", 0.0F}}, 3);
  expectFloats(result, {2, 1, 2}, {-3 / r, -1 / r, 1 / r, 3 / r});
  expectFloats(result, {1}, {2}, 1e-5F, 1);
  expectFloats(result, {1}, {3}, 1e-5F, 2);
  EXPECT_EQ(errorOf(run("BatchNormalization", {floats({1, 1}, {1}), one, zero, zero, one}, {}, 3)),
            "node 'n': attribute 'training_mode': is 0, so y must be the only output, but the node has more outputs");
}

}  // namespace
}  // namespace fusescope::testing
