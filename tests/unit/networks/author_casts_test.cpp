// The author's Casts are arithmetic: what stands around them runs as one kernel, which rounds where they say.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>

#include "base/float_bits.h"
#include "interchange/npz.h"
#include "ir/graph.h"
#include "session/inputs/random_inputs.h"
#include "tests/support/node_by_node.h"
#include "tests/support/paths.h"
#include "tests/unit/networks/network_engine.h"

namespace fusescope {
namespace {

using test::engineFor;
using Numbers = std::vector<double>;

constexpr std::int64_t kRows = 4, kColumns = 8;

Numbers numbersOf(const Tensor& tensor) {
  Numbers numbers;
  for (std::int64_t i = 0; i < tensor.count(); ++i) numbers.push_back(tensor.asDouble(i));
  return numbers;
}

Numbers product(const Numbers& a, const Numbers& b) {
  Numbers c(static_cast<std::size_t>(kRows * kColumns));
  for (std::size_t i = 0; i < kRows; ++i)
    for (std::size_t j = 0; j < kColumns; ++j)
      for (std::size_t k = 0; k < kColumns; ++k) c[i * kColumns + j] += a[i * kColumns + k] * b[k * kColumns + j];
  return c;
}

Numbers each(Numbers numbers, const std::function<double(double)>& function) {
  for (double& number : numbers) number = function(number);
  return numbers;
}

Numbers rounded(const Numbers& numbers, DataType type) {
  return each(numbers, [type](double x) { return roundedTo(type, static_cast<float>(x)); });
}

Numbers relu(const Numbers& numbers) {
  return each(numbers, [](double x) { return x > 0 ? x : 0; });
}

Numbers half(const Numbers& numbers) {
  return each(numbers, [](double x) { return 0.5 * x; });
}

/// Of rows; the scale is 1 and epsilon 1e-5.
Numbers normalised(Numbers numbers) {
  for (std::size_t row = 0; row < numbers.size(); row += kColumns) {
    double mean = 0, variance = 0;
    for (std::size_t i = row; i < row + kColumns; ++i) mean += numbers[i] / kColumns;
    for (std::size_t i = row; i < row + kColumns; ++i) variance += std::pow(numbers[i] - mean, 2) / kColumns;
    for (std::size_t i = row; i < row + kColumns; ++i) numbers[i] = (numbers[i] - mean) / std::sqrt(variance + 1e-5);
  }
  return numbers;
}

struct CastCase {
  const char* file;
  std::function<Numbers(const Numbers& x, const Numbers& w)> expected;
};

const CastCase kCases[] = {
    {"c_mm_cast", [](const Numbers& x, const Numbers& w) { return half(rounded(product(x, w), DataType::F16)); }},
    {"c_mm_bf", [](const Numbers& x, const Numbers& w) { return half(rounded(product(x, w), DataType::BF16)); }},
    {"c_mm_relu_cast",
     [](const Numbers& x, const Numbers& w) { return normalised(rounded(relu(product(x, w)), DataType::F16)); }},
    {"c_relu_cast", [](const Numbers& x, const Numbers&) { return half(rounded(relu(x), DataType::F16)); }},
    {"c_cast_out", [](const Numbers& x, const Numbers& w) { return rounded(product(x, w), DataType::F16); }},
    {"c_dbl", [](const Numbers& x, const Numbers& w) { return product(x, w); }},
    {"c_i8", [](const Numbers& x, const Numbers& w) {
       return half(each(product(x, w), [](double sum) { return std::trunc(sum); }));
     }}};

class AuthorCasts : public testing::TestWithParam<std::tuple<CastCase, std::string>> {};

/// Equal but for float32's own rounding of sums: none of these lies next to a tie.
void expectNumbers(const Tensor& actual, const Numbers& expected) {
  ASSERT_EQ(actual.count(), static_cast<std::int64_t>(expected.size()));
  double usual = 0, finite = 0;
  for (const double e : expected)
    if (std::isfinite(e)) usual += e * e, ++finite;
  usual = finite > 0 ? std::sqrt(usual / finite) : 0;
  for (std::int64_t i = 0; i < actual.count(); ++i) {
    const double a = actual.asDouble(i), e = expected[static_cast<std::size_t>(i)];
    const bool same = std::isfinite(e) ? std::fabs(a - e) <= 2e-6 * usual : a == e || (std::isnan(a) && std::isnan(e));
    EXPECT_TRUE(same) << "element " << i << " is " << a << ", expected is " << e;
  }
}

// Given as they are many sums are beyond f16; scaled down all are within it.
TEST_P(AuthorCasts, RoundWhereTheyStand) {
  FUSESCOPE_REQUIRE_SHARED();
  const auto& [one, backend] = GetParam();
  const auto folder = *test::sharedFolder() / "cases" / "found";
  const auto arrays = readNpz(folder / "c.npz");
  ASSERT_TRUE(arrays.ok()) << arrays.error().text();
  const auto engine = engineFor(folder / (std::string(one.file) + ".onnx"), backend);
  const Graph& graph = engine->plan().graph();
  const bool isSaid = std::ranges::any_of(
      engine->plan().decisions, [](const Decision& decision) { return decision.code == "precision.author_cast"; });
  const std::string_view file = one.file;
  EXPECT_EQ(isSaid, !file.ends_with("_i8") && !file.ends_with("_dbl")) << "it is of f16 and bf16";
  const auto weights = graph.findValue("w");
  const Numbers w = weights ? numbersOf(*graph.constantData(*weights)) : Numbers();
  for (const float scale : {1.0f, 1e-3f}) {
    Tensor x = inputsFrom(arrays.value()).at("x").converted(DataType::F32);
    for (float& number : x.mutableData<float>()) number *= scale;
    const auto ran = engine->run({{"x", x}});
    ASSERT_TRUE(ran.ok()) << ran.error().text();
    SCOPED_TRACE(fmt::format("x times {}", scale));
    expectNumbers(ran.value().outputs.begin()->second, one.expected(numbersOf(x), w));
  }
}

INSTANTIATE_TEST_SUITE_P(Found, AuthorCasts,
                         testing::Combine(testing::ValuesIn(kCases), testing::Values("native", "reference")),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).file) + "_" + std::get<1>(info.param);
                         });

/// Every native tactic of a network beside the reference, fused node by fused node.
class CastKernels : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(CastKernels, AreOneKernelOfTheirKind) {
  FUSESCOPE_REQUIRE_SHARED();
  const auto& [file, kind] = GetParam();
  const auto engine = engineFor(*test::sharedFolder() / "cases" / (std::string(file) + ".onnx"), "native");
  const Plan& plan = engine->plan();
  ASSERT_EQ(plan.fusedNodes.size(), 1U);
  EXPECT_EQ(plan.fusedNodes[0].kind, kind);
  ASSERT_EQ(engine->report().tactics.size(), 1U);
  EXPECT_EQ(engine->report().tactics[0].chosen, "native:" + std::string(kind));
  const test::NodeByNode ran = test::runNodeByNode(plan, randomInputs(plan));
  EXPECT_EQ(ran.problems, std::vector<std::string>{});
  EXPECT_TRUE(ran.emulated.empty());
}

INSTANTIATE_TEST_SUITE_P(Shared, CastKernels,
                         testing::Values(std::tuple("attn_casts", "attention"), std::tuple("rms_casts", "rms_norm")),
                         [](const auto& info) { return std::string(std::get<0>(info.param)); });

}  // namespace
}  // namespace fusescope
