#include "ops/run_node.h"
#include "tests/unit/ops/ops_testing.h"

namespace fusescope::testing {
namespace {

using Int = std::int64_t;
using List = std::vector<Int>;

double meanOf(const Tensor& tensor) {
  double sum = 0;
  for (Int i = 0; i < tensor.count(); ++i) sum += tensor.asDouble(i);
  return sum / static_cast<double>(tensor.count());
}

TEST(Random, ASeedGivesTheNumbersOfTheMersenneTwister) {
  // The first numbers of MT19937 with 53 bits each, seeded with 0.
  expectFloats(run("RandomUniform", {}, {{"shape", List{3}}, {"seed", 0.0F}}), {3},
               {0.5488135F, 0.7151894F, 0.6027634F});
  expectFloats(run("RandomUniform", {}, {{"shape", List{1}}, {"seed", 0.0F}, {"low", 10.0F}, {"high", 20.0F}}), {1},
               {15.488135F});
}

TEST(Random, WithoutASeedANodeRepeatsItselfAndDiffersFromOthers) {
  const auto drawn = [](const std::string& name) {
    Node node = nodeOf("RandomNormal", 0, {{"shape", List{8}}});
    node.name = name;
    return runNode(node, {}).value()[0];
  };
  EXPECT_TRUE(drawn("a").identical(drawn("a")));
  EXPECT_FALSE(drawn("a").identical(drawn("b")));
}

TEST(Random, NormalNumbersHaveTheirMeanAndDeviation) {
  const auto result = run("RandomNormal", {}, {{"shape", List{100, 100}}, {"mean", 5.0F}, {"scale", 2.0F}});
  ASSERT_TRUE(result.ok());
  const double mean = meanOf(result.value()[0]);
  EXPECT_NEAR(mean, 5, 0.1);
  double variance = 0;
  for (Int i = 0; i < 10'000; ++i) variance += std::pow(result.value()[0].asDouble(i) - mean, 2) / 10'000;
  EXPECT_NEAR(variance, 4, 0.2);
}

TEST(Random, LikeAnotherTensor) {
  const auto result = run("RandomUniformLike", {ints({2, 3}, List(6, 0))}, {{"dtype", Int{10}}});
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(result.value()[0].type(), DataType::F16);
  EXPECT_EQ(result.value()[0].dims(), (Dims{2, 3}));
  EXPECT_EQ(
      errorOf(run("RandomNormalLike", {ints({1})})),
      "node 'n': attribute 'dtype': random numbers of type int64 are not defined, expected one of f64, f32, f16, bf16");
}

TEST(Random, BernoulliAndMultinomialFollowTheProbabilities) {
  expectInts(run("Bernoulli", {floats({2}, {0, 1})}, {{"dtype", Int{7}}}), {2}, {0, 1});
  const auto coin = run("Bernoulli", {floats({10'000}, std::vector<float>(10'000, 0.25F))});
  EXPECT_NEAR(meanOf(coin.value()[0]), 0.25, 0.02);
  const auto dice = run("Multinomial", {floats({1, 3}, {-INFINITY, std::log(1.0F), std::log(3.0F)})},
                        {{"sample_size", Int{10'000}}, {"dtype", Int{7}}});
  ASSERT_TRUE(dice.ok()) << dice.error().text();
  EXPECT_EQ(dice.value()[0].dims(), (Dims{1, 10'000}));
  EXPECT_NEAR(meanOf(dice.value()[0]), 1.75, 0.02);  // 1 and 2 in the ratio of 1 to 3, never 0
  EXPECT_EQ(errorOf(run("Bernoulli", {floats({1}, {1.5F})})),
            "node 'n': element 0 is 1.5, expected a probability from 0 to 1");
  EXPECT_EQ(errorOf(run("Multinomial", {floats({1, 1}, {-INFINITY})})),
            "node 'n': row 0 has no outcome with a probability above 0");
}

TEST(Random, AbsurdRequestsAreRefused) {
  EXPECT_EQ(errorOf(run("RandomNormal", {}, {{"shape", List{Int{1} << 40, 16}}})),
            "node 'n': a tensor of extents [1099511627776, 16] is too large for the memory");
  EXPECT_EQ(errorOf(run("RandomNormal", {}, {{"shape", List{-1}}})),
            "node 'n': attribute 'shape': contains -1, but an extent cannot be negative");
  EXPECT_EQ(errorOf(run("RandomNormal", {})), "node 'n': attribute 'shape': is missing");
  EXPECT_EQ(errorOf(run("RandomNormal", {}, {{"shape", List{1}}, {"scale", -1.0F}})),
            "node 'n': attribute 'scale': must not be negative");
}

TEST(Dropout, DropsInTrainingOnly) {
  const Tensor x = floats({3}, {1, 2, 3}), ratio = floats({}, {0.6F});
  const auto still = run("Dropout", {x, ratio}, {}, 2);
  expectFloats(still, {3}, {1, 2, 3});
  expectInts(still, {3}, {1, 1, 1}, 1);
  // Seeded with 0 the first draws are 0.549, 0.715 and 0.603: below the ratio goes.
  const auto trained = run("Dropout", {x, ratio, bools({}, {1})}, {{"seed", Int{0}}}, 2);
  expectFloats(trained, {3}, {0, 5, 7.5F}, 1e-5F);
  expectInts(trained, {3}, {0, 1, 1}, 1);
  EXPECT_EQ(errorOf(run("Dropout", {x, floats({}, {1}), bools({}, {1})})),
            "node 'n': ratio is 1, expected 0 up to below 1");
}

}  // namespace
}  // namespace fusescope::testing
