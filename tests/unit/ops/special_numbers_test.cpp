// Where NaN, infinities and the signs of zero go. The numbers are those that ONNX Runtime 1.32 gives, but for pools: a
// NaN that it loses in a MaxPool or a GlobalMaxPool stays, as in its MaxPool with indices and in its ReduceMax.
#include <limits>

#include "tests/unit/ops/ops_testing.h"

namespace fusescope::testing {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();

/// As expectFloats(); the sign of what is not a number says nothing.
void expectSpecials(const Result<std::vector<Tensor>>& result, const Dims& dims, const std::vector<float>& expected) {
  ASSERT_TRUE(result.ok()) << result.error().text();
  const Tensor& tensor = result.value()[0];
  ASSERT_EQ(tensor.dims(), dims);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double given = tensor.asDouble(static_cast<std::int64_t>(i)), want = expected[i];
    const bool same = given == want || (std::isnan(given) && std::isnan(want));
    EXPECT_TRUE(same || std::abs(given - want) <= 1e-5) << "element " << i << " is " << given << " and not " << want;
  }
}

struct SpecialCase {
  std::string op;
  std::vector<float> expected;  ///< of NaN, infinity, -infinity, -0, 0, 2, -2
  Attributes attributes;
};

TEST(SpecialNumbers, OfOneNumber) {
  const std::vector<float> given{kNan, kInf, -kInf, -0.0F, 0, 2, -2};
  const std::vector<SpecialCase> cases{
      {"Abs", {kNan, kInf, kInf, 0, 0, 2, 2}, {}},
      {"Acosh", {kNan, kInf, kNan, kNan, kNan, 1.3169579F, kNan}, {}},
      {"Asin", {kNan, kNan, kNan, 0, 0, kNan, kNan}, {}},
      {"Asinh", {kNan, kInf, -kInf, 0, 0, 1.4436355F, -1.4436355F}, {}},
      {"Atan", {kNan, 1.5707963F, -1.5707963F, 0, 0, 1.1071487F, -1.1071487F}, {}},
      {"Atanh", {kNan, kNan, kNan, 0, 0, kNan, kNan}, {}},
      {"Ceil", {kNan, kInf, -kInf, 0, 0, 2, -2}, {}},
      {"Celu", {kNan, kInf, -1, 0, 0, 2, -0.8646647F}, {}},
      {"Cos", {kNan, kNan, kNan, 1, 1, -0.4161468F, -0.4161468F}, {}},
      {"Cosh", {kNan, kInf, kInf, 1, 1, 3.7621957F, 3.7621957F}, {}},
      {"Elu", {kNan, kInf, -1, 0, 0, 2, -0.8646647F}, {}},
      {"Erf", {kNan, 1, -1, 0, 0, 0.9953223F, -0.9953223F}, {}},
      {"Exp", {kNan, kInf, 0, 1, 1, 7.3890561F, 0.1353353F}, {}},
      {"Floor", {kNan, kInf, -kInf, 0, 0, 2, -2}, {}},
      {"Gelu", {kNan, kInf, kNan, 0, 0, 1.9544997F, -0.0455003F}, {}},
      {"Gelu", {kNan, kInf, kNan, 0, 0, 1.9545977F, -0.0454023F}, {{"approximate", std::string("tanh")}}},
      {"HardSigmoid", {kNan, 1, 0, 0.5F, 0.5F, 0.9F, 0.1F}, {}},
      {"HardSwish", {kNan, kInf, kNan, 0, 0, 1.6666667F, -0.3333333F}, {}},
      {"LeakyRelu", {kNan, kInf, -kInf, 0, 0, 2, -0.02F}, {}},
      {"Log", {kNan, kInf, kNan, -kInf, -kInf, 0.6931472F, kNan}, {}},
      {"LogSoftmax", {kNan, kNan, kNan, kNan, kNan, kNan, kNan}, {}},
      {"Mish", {kNan, kInf, kNan, 0, 0, 1.9439590F, -0.2525015F}, {}},
      {"Neg", {kNan, -kInf, kInf, 0, 0, -2, 2}, {}},
      {"Reciprocal", {kNan, 0, 0, -kInf, kInf, 0.5F, -0.5F}, {}},
      {"Relu", {kNan, kInf, 0, 0, 0, 2, 0}, {}},
      {"Round", {kNan, kInf, -kInf, 0, 0, 2, -2}, {}},
      {"Selu", {kNan, kInf, -1.7580993F, 0, 0, 2.1014020F, -1.5201665F}, {}},
      {"Shrink", {0, kInf, -kInf, 0, 0, 2, -2}, {}},  // NaN is neither beyond the one end nor beyond the other
      {"Sigmoid", {kNan, 1, 0, 0.5F, 0.5F, 0.8807971F, 0.1192029F}, {}},
      {"Sign", {kNan, 1, -1, 0, 0, 1, -1}, {}},
      {"Sin", {kNan, kNan, kNan, 0, 0, 0.9092974F, -0.9092974F}, {}},
      {"Sinh", {kNan, kInf, -kInf, 0, 0, 3.6268604F, -3.6268604F}, {}},
      {"Softmax", {kNan, kNan, kNan, kNan, kNan, kNan, kNan}, {}},
      {"Softplus", {kNan, kInf, 0, 0.6931472F, 0.6931472F, 2.1269280F, 0.1269280F}, {}},
      {"Softsign", {kNan, kNan, kNan, 0, 0, 0.6666667F, -0.6666667F}, {}},
      {"Sqrt", {kNan, kInf, kNan, 0, 0, 1.4142136F, kNan}, {}},
      {"Tanh", {kNan, 1, -1, 0, 0, 0.9640276F, -0.9640276F}, {}},
      {"ThresholdedRelu", {0, kInf, 0, 0, 0, 2, 0}, {}},
  };
  for (const SpecialCase& c : cases) {
    SCOPED_TRACE(c.op);
    expectSpecials(run(c.op, {floats({7}, given)}, c.attributes), {7}, c.expected);
  }
}

TEST(SpecialNumbers, OfTwoNumbers) {
  const Tensor a = floats({5}, {kNan, 1, kInf, -kInf, kInf}), b = floats({5}, {1, kNan, kNan, kInf, -kInf});
  expectSpecials(run("Max", {a, b}), {5}, {kNan, kNan, kNan, kInf, kInf});
  expectSpecials(run("Min", {a, b}), {5}, {kNan, kNan, kNan, -kInf, -kInf});
  expectSpecials(run("Add", {a, b}), {5}, {kNan, kNan, kNan, kNan, kNan});
  expectSpecials(run("Mul", {a, b}), {5}, {kNan, kNan, kNan, -kInf, -kInf});
  expectSpecials(run("PRelu", {a, b}), {5}, {kNan, 1, kInf, -kInf, kInf});
  expectSpecials(run("Clip", {floats({3}, {kNan, kInf, -kInf}), floats({}, {-1}), floats({}, {6})}), {3},
                 {kNan, 6, -1});
  expectSpecials(run("Clip", {floats({3}, {kNan, 9, -9}), floats({}, {kNan}), floats({}, {6})}), {3}, {kNan, 6, -9});
  expectSpecials(run("Clip", {floats({3}, {kNan, 9, -9}), floats({}, {0}), floats({}, {kNan})}), {3}, {kNan, 9, 0});
}

TEST(SpecialNumbers, OfARow) {
  const std::vector<float> given{kNan, 1,    2,    3,     1, kNan, 2,     3,     3,     2,
                                 1,    kNan, kInf, -kInf, 1, 2,    -kInf, -kInf, -kInf, -kInf};
  const Tensor x = floats({5, 4}, given), axes = ints({1});
  const Attributes flat{{"keepdims", std::int64_t{0}}};
  expectSpecials(run("ReduceMax", {x, axes}, flat), {5}, {kNan, kNan, kNan, kInf, -kInf});
  expectSpecials(run("ReduceMin", {x, axes}, flat), {5}, {kNan, kNan, kNan, -kInf, -kInf});
  expectSpecials(run("ReduceSum", {x, axes}, flat), {5}, {kNan, kNan, kNan, kNan, -kInf});
  expectSpecials(run("ReduceLogSumExp", {x, axes}, flat), {5}, {kNan, kNan, kNan, kInf, -kInf});
  expectInts(run("ArgMax", {x}, {{"axis", std::int64_t{1}}, {"keepdims", std::int64_t{0}}}), {5}, {0, 3, 0, 0, 0});
  const auto top = run("TopK", {x, ints({2})}, {{"axis", std::int64_t{1}}}, 2);
  expectSpecials(top, {5, 2}, {kNan, 3, kNan, 3, kNan, 3, kInf, 2, -kInf, -kInf});
}

TEST(SpecialNumbers, OfAWindow) {
  const Tensor x = floats({1, 4, 2, 2}, {kNan, 1, 2, 3, 3, 2, 1, kNan, kInf, -kInf, 1, 2, -kInf, -kInf, -kInf, -kInf});
  const Attributes window{{"kernel_shape", std::vector<std::int64_t>{2, 2}}};
  expectSpecials(run("MaxPool", {x}, window), {1, 4, 1, 1}, {kNan, kNan, kInf, -kInf});
  expectSpecials(run("AveragePool", {x}, window), {1, 4, 1, 1}, {kNan, kNan, kNan, -kInf});
  expectSpecials(run("GlobalMaxPool", {x}), {1, 4, 1, 1}, {kNan, kNan, kInf, -kInf});
  const auto scattered = run("ScatterElements", {floats({3}, {1, kNan, 2}), ints({0, 1, 2}), floats({3}, {kNan, 5, 7})},
                             {{"reduction", std::string("max")}});
  expectSpecials(scattered, {3}, {kNan, kNan, 7});
}

}  // namespace
}  // namespace fusescope::testing
