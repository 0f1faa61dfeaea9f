// `--precision int8,f32`: times choose between integers and floats, product by product; rules where they are not known.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "base/json.h"
#include "planning/plan.h"
#include "planning/plan_json.h"
#include "planning/prices/price_model.h"
#include "planning/quantized_model.h"
#include "tests/unit/passes/prepared_model.h"

namespace fusescope::test {
namespace {

/// By whether a kernel multiplies or writes integers, and its root.
class PricesOfProducts : public PriceModel {
 public:
  using Ms = std::function<std::optional<double>(const std::string& root, bool integers)>;
  PricesOfProducts(Ms ms, std::optional<double> conversion) : m_ms(std::move(ms)), m_conversion(conversion) {}
  std::vector<Price> kernels(const Plan& plan) const override {
    std::vector<Price> prices;
    for (const FusedNode& fused : plan.fusedNodes)
      prices.push_back(priced(m_ms(plan.graph().node(fused.root).name, usesIntegers(fused))));
    return prices;
  }
  Price conversion(DataType, DataType, std::int64_t) const override { return priced(m_conversion); }

 private:
  static bool usesIntegers(const FusedNode& fused) {
    return fused.compute == DataType::I8 || fused.outputs.front().type == DataType::U8;
  }
  static Price priced(std::optional<double> ms) { return ms ? Price{.ms = ms, .how = PriceSource::Measured} : Price(); }
  Ms m_ms;
  std::optional<double> m_conversion;
};

class Int8Prices : public ::testing::Test {
 protected:
  Int8Prices() {
    std::string w = "{";
    for (int i = 0; i < 64; ++i) w += (i > 0 ? ", " : "") + std::to_string(0.01 * ((i * 37) % 41 - 20));
    model = std::make_shared<const Model>(
        prepared("g (float[4,8] x) => (float[4,8] y) <float[8,8] w = " + w +
                 "}> { [first] a = MatMul (x, w) [norm] s = Softmax <axis = 0> (a) [second] y = MatMul (s, w) }"));
    auto known = std::make_shared<Ranges>();
    for (const char* edge : {"x", "a", "s", "y"}) known->edges[edge] = {{-1, 2}};
    ranges = known;
  }

  std::shared_ptr<const Plan> planned(const PriceModel* prices,
                                      std::vector<DataType> precisions = {DataType::I8, DataType::F32},
                                      Directives directives = {}) const {
    PlanOptions options{.target = "cpu", .precisions = std::move(precisions), .directives = std::move(directives)};
    options.ranges = ranges;
    auto plan = makePlan(model, options, prices);
    EXPECT_TRUE(plan.ok()) << plan.error().text();
    EXPECT_TRUE(verifyPlan(*plan.value()).ok());
    return plan.value();
  }

  static bool isInteger(const Plan& plan, std::string_view node) {
    return plan.fusedNodeOf(*plan.graph().findNode(node))->compute == DataType::I8;
  }

  static std::string codeOf(const Plan& plan, std::string_view node) {
    for (const Decision& decision : plan.decisions)
      for (const char* code : {"quantize.slower", "quantize.faster", "quantize.no_price"})
        if (decision.code == code && decision.subjects.front().text() == node) return code;
    return "";
  }

  std::shared_ptr<const Model> model;
  std::shared_ptr<const Ranges> ranges;
};

/// Integers are faster for "first" alone.
std::optional<double> firstIsFaster(const std::string& root, bool integers) {
  if (root != "first" && root != "second") return 0.1;
  return integers == (root == "first") ? 1.0 : 3.0;
}

TEST_F(Int8Prices, EachProductRunsInTheFasterType) {
  const PricesOfProducts prices(firstIsFaster, 0.2);
  const auto plan = planned(&prices);
  EXPECT_TRUE(isInteger(*plan, "first"));
  EXPECT_FALSE(isInteger(*plan, "second"));
  EXPECT_EQ(codeOf(*plan, "first"), "quantize.faster");
  EXPECT_EQ(codeOf(*plan, "second"), "quantize.slower");
  const auto again = remakePlan(model, toJson(*plan));
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_EQ(toJson(*again.value()).dump(), toJson(*plan).dump()) << "made again as it was, without the prices";
  Json older = toJson(*plan);
  older.erase("by_price");
  older["version"] = 3;
  const auto read = planFromJson(older, model);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(toJson(*read.value()).dump(), toJson(*plan).dump()) << "an older file says it in its decisions";
  const auto made = graphWithCodes(*plan);
  ASSERT_TRUE(made.ok());
  const Graph& edited = *made.value();
  EXPECT_EQ(std::ranges::count_if(edited.order(), [&](NodeId id) { return edited.node(id).is("QuantizeLinear"); }), 1)
      << "what is exported follows the choice";
}

TEST_F(Int8Prices, WhatQuantisesCountsToo) {
  // The product behind it gains 2 ms in integers; that the norm writes codes costs more, and so does a step between.
  const auto costly = [](const std::string& root, bool integers) -> std::optional<double> {
    if (root == "first" || root == "second") return integers ? 1.0 : 3.0;
    return integers ? 5.0 : 0.1;
  };
  const PricesOfProducts prices(costly, 5.0);
  const auto plan = planned(&prices);
  EXPECT_TRUE(isInteger(*plan, "first"));
  EXPECT_FALSE(isInteger(*plan, "second"));
}

TEST_F(Int8Prices, WithoutKnownTimesTheRulesHold) {
  const auto unknown = [](const std::string& root, bool integers) {
    return root == "second" && integers ? std::nullopt : firstIsFaster(root, !integers);
  };
  const PricesOfProducts prices(unknown, 0.2);
  const auto plan = planned(&prices);
  EXPECT_FALSE(isInteger(*plan, "first")) << "known, and slower";
  EXPECT_TRUE(isInteger(*plan, "second"));
  EXPECT_EQ(codeOf(*plan, "second"), "quantize.no_price");
  const auto byRules = planned(nullptr);
  EXPECT_TRUE(isInteger(*byRules, "first") && isInteger(*byRules, "second"));
  EXPECT_EQ(codeOf(*byRules, "first"), "");
}

TEST_F(Int8Prices, WhereNoTimeIsKnownTheRulesHoldBehindKernelsThatAreOthersInFloats) {
  // In floats "first" and "beside" are one kernel, so that nothing stands for the one that writes codes for "second".
  std::string w = "{";
  for (int i = 0; i < 64; ++i) w += (i > 0 ? ", " : "") + std::to_string(0.01 * ((i * 37) % 41 - 20));
  model = std::make_shared<const Model>(prepared(
      "g (float[4,8] x) => (float[4,8] y, float[4,8] b) <float[8,8] w = " + w + "}, float[8,8] v = " + w +
      "}> { [first] a = MatMul (x, w) [beside] b = MatMul (x, v) [act] s = Relu (a) [second] y = MatMul (s, w) }"));
  const PricesOfProducts nothing([](const std::string&, bool) { return std::nullopt; }, std::nullopt);
  const auto plan = planned(&nothing);
  for (const char* product : {"first", "beside", "second"}) {
    EXPECT_TRUE(isInteger(*plan, product)) << product;
    EXPECT_EQ(codeOf(*plan, product), "quantize.no_price") << product;
  }
}

TEST_F(Int8Prices, AskedForAloneOrPinnedItIsTakenWhateverItTakes) {
  const PricesOfProducts prices(firstIsFaster, 0.2);
  const auto alone = planned(&prices, {DataType::I8});
  EXPECT_TRUE(isInteger(*alone, "first") && isInteger(*alone, "second"));
  const auto pinned = planned(&prices, {DataType::I8, DataType::F32}, {parsePin("second=int8:obey").value()});
  EXPECT_TRUE(isInteger(*pinned, "second"));
  EXPECT_TRUE(obeyRefusals(*pinned).empty());
}

}  // namespace
}  // namespace fusescope::test
