// What prices decide: products of one input together or one by one, and types where more than two are allowed.
#include <gtest/gtest.h>

#include "base/json.h"
#include "planning/plan_json.h"
#include "planning/prices/price_model.h"
#include "tests/unit/planning/plan_testing.h"

namespace fusescope::testing {
namespace {

std::shared_ptr<const Model> twoOfOneInput() {
  ModelBuilder b;
  const ValueId x = b.input("x", {4, 8});
  b.output(b.node("MatMul", "query", {x, b.weight("wq", {8, 8})}, {4, 8}));
  b.output(b.node("MatMul", "key", {x, b.weight("wk", {8, 8})}, {4, 8}));
  return b.build();
}

/// Of kernels by their number of nodes; not known where 0.
class PricesBySize : public PriceModel {
 public:
  PricesBySize(double single, double pair) : m_single(single), m_pair(pair) {}
  std::vector<Price> kernels(const Plan& plan) const override {
    std::vector<Price> prices;
    for (const FusedNode& fused : plan.fusedNodes) {
      const double ms = fused.nodes.size() == 1 ? m_single : m_pair;
      prices.push_back(ms == 0 ? Price() : Price{.ms = ms, .how = PriceSource::Measured, .spread = 0.1});
    }
    return prices;
  }
  Price conversion(DataType, DataType, std::int64_t) const override { return {}; }

 private:
  double m_single, m_pair;
};

std::shared_ptr<const Plan> pricedPlan(const std::shared_ptr<const Model>& model, const PriceModel& prices,
                                       std::vector<DataType> precisions = {}) {
  auto plan = makePlan(model, {.target = "cpu:avx2", .precisions = std::move(precisions)}, &prices);
  EXPECT_TRUE(plan.ok());
  EXPECT_TRUE(verifyPlan(*plan.value()).ok());
  return plan.value();
}

TEST(PriceChoices, ProductsOfOneInputRunOneByOneWhereThatIsFaster) {
  const auto model = twoOfOneInput();
  EXPECT_EQ(fusions(*planned(model, {.target = "cpu:avx2"})), "matmul{query key}") << "x is read once";
  const auto apart = pricedPlan(model, PricesBySize(1, 3));
  EXPECT_EQ(fusions(*apart), "matmul{query} matmul{key}");
  const Decision* slower = findDecision(*apart, "fuse.parallel_slower", "key");
  ASSERT_NE(slower, nullptr);
  EXPECT_EQ(slower->arguments["together_ms"], 3.0);
  EXPECT_EQ(slower->arguments["apart_ms"], 2.0);
  const auto again = remakePlan(model, toJson(*apart));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(toJson(*again.value()).dump(), toJson(*apart).dump()) << "made again as it was";
}

TEST(PriceChoices, OfAPlanOfVersion3AreReadFromItsDecisions) {
  const auto model = twoOfOneInput();
  const PricesBySize prices(1, 3);
  const auto plan = makePlan(model, {.target = "cpu:avx2", .precisions = {DataType::F32, DataType::F16}}, &prices);
  ASSERT_TRUE(plan.ok());
  const Json now = toJson(*plan.value());
  ASSERT_TRUE(now.contains("by_price"));
  Json then = now;
  then.erase("by_price");
  then["version"] = 3;
  const auto read = planFromJson(then, model);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(fusions(*read.value()), "matmul{query} matmul{key}");
  EXPECT_EQ(toJson(*read.value())["by_price"].dump(), now["by_price"].dump());
  EXPECT_EQ(toJson(*read.value())["precision_map"].dump(), now["precision_map"].dump());
}

TEST(PriceChoices, ProductsOfOneInputStayTogetherWithinTheNoise) {
  for (const auto& [single, pair] : {std::pair(2.0, 3.0), {1.0, 2.1}, {0.0, 3.0}, {1.0, 0.0}}) {
    const auto plan = pricedPlan(twoOfOneInput(), PricesBySize(single, pair));
    EXPECT_EQ(fusions(*plan), "matmul{query key}") << single << ", together " << pair;
    EXPECT_EQ(findDecision(*plan, "fuse.parallel_slower"), nullptr);
  }
}

/// "first" is fast in bf16, "second" in f16, everything else and elsewhere slow.
class PricesByName : public PriceModel {
 public:
  std::vector<Price> kernels(const Plan& plan) const override {
    std::vector<Price> prices;
    for (const FusedNode& fused : plan.fusedNodes) {
      const bool fast = (fused.name == "first" && fused.compute == DataType::BF16) ||
                        (fused.name == "second" && fused.compute == DataType::F16);
      prices.push_back({.ms = fast ? 1.0 : 5.0, .how = PriceSource::Measured});
    }
    return prices;
  }
  Price conversion(DataType, DataType, std::int64_t) const override {
    return {.ms = 0.1, .how = PriceSource::Measured};
  }
};

TEST(PriceChoices, MoreThanTwoTypesAreMixedWhereThatPays) {
  ModelBuilder b;
  const ValueId x = b.input("x", {4, 8});
  const ValueId y = b.node("MatMul", "first", {x, b.weight("w", {8, 8})}, {4, 8});
  b.output(b.node("MatMul", "second", {y, b.weight("v", {8, 8})}, {4, 8}));
  const auto plan = pricedPlan(b.build(), PricesByName(), {DataType::F16, DataType::BF16});
  EXPECT_EQ(plan->fusedNodes[0].compute, DataType::BF16);
  EXPECT_EQ(plan->fusedNodes[1].compute, DataType::F16);
  EXPECT_NE(findDecision(*plan, "precision.search_bounded"), nullptr);
}

}  // namespace
}  // namespace fusescope::testing
