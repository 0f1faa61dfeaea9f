#include "engine/timing_cost_model.h"

#include "tests/unit/engine/engine_fixture.h"

namespace fusescope::testing {
namespace {

class CostModelTest : public ::testing::Test {
 protected:
  /// Builds the network and so fills the cache.
  void build(const PlanOptions& options = {}) {
    m_engine = engineOf(planOf(m_model, options), {.threads = 1, .timingCache = m_cache});
  }
  std::shared_ptr<const Plan> predicted(const PlanOptions& options = {}, int threads = 1) {
    const auto costs = openCostModel(m_cache, "native", threads);
    EXPECT_NE(costs, nullptr);
    auto plan = makePlan(m_model, options, costs.get());
    EXPECT_TRUE(plan.ok());
    return plan.value();
  }

  TemporaryFolder m_folder;
  std::filesystem::path m_cache = m_folder / "timings.sqlite";
  std::shared_ptr<const Model> m_model = smallNetwork();
  std::unique_ptr<Engine> m_engine;
};

TEST_F(CostModelTest, PredictsWhatABuildMeasured) {
  EXPECT_EQ(openCostModel(m_cache, "native"), nullptr) << "nothing was built yet";
  build();
  const auto plan = predicted();
  double sum = 0;
  for (const FusedNode& fused : plan->fusedNodes) {
    ASSERT_TRUE(fused.predictedMs.has_value()) << fused.name;
    EXPECT_GT(*fused.predictedMs, 0);
    sum += *fused.predictedMs;
  }
  EXPECT_EQ(plan->predictedMs, std::optional(sum));
  EXPECT_EQ(toJson(*plan).dump(), toJson(*predicted()).dump()) << "equal measurements, equal bytes";
}

TEST_F(CostModelTest, OtherCircumstancesAreNotPredicted) {
  build();
  EXPECT_EQ(predicted({}, 7)->predictedMs, std::nullopt) << "measured with one thread";
  const auto lowered = predicted({.precisions = {DataType::F16}});
  EXPECT_EQ(lowered->predictedMs, std::nullopt) << "emulated types have no time";
  const auto split = predicted({.directives = {splitDirective("add_bias")}});
  EXPECT_EQ(split->predictedMs, std::nullopt) << "other kernels than were built";
}

TEST_F(CostModelTest, SeveralTypesStayUndecidedWhereOneAloneIsMeasured) {
  build();
  const auto plan = predicted({.precisions = {DataType::F16, DataType::BF16}});
  for (const PrecisionGrant& grant : plan->precisionMap) {
    EXPECT_EQ(grant.granted, DataType::F32);
    EXPECT_EQ(grant.code, "precision.not_measured");
  }
}

/// bf16 is said to be fast everywhere.
class FastBrain : public CostModel {
 public:
  std::vector<std::optional<double>> milliseconds(const Plan& plan) const override {
    std::vector<std::optional<double>> times;
    for (const FusedNode& fused : plan.fusedNodes) times.emplace_back(fused.compute == DataType::BF16 ? 1.0 : 2.0);
    return times;
  }
};

TEST_F(CostModelTest, WhatWasChosenByMeasurementsIsReadBack) {
  const FastBrain costs;
  const auto plan = makePlan(m_model, {.precisions = {DataType::F16, DataType::BF16}}, &costs);
  ASSERT_TRUE(plan.ok());
  ASSERT_EQ(plan.value()->precisionMap.front().code, "precision.measured");
  const Json json = toJson(*plan.value());
  const auto again = planFromJson(json, m_model);
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_EQ(toJson(*again.value()).dump(), json.dump());

  const auto engine = engineOf(plan.value(), {.backend = "reference", .threads = 1, .measureTactics = false});
  ASSERT_TRUE(engine->save(m_folder / "e.fse").ok());
  const auto loaded = inspectEngineFile(m_folder / "e.fse");
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  EXPECT_EQ(toJson(*loaded.value().plan).dump(), json.dump());
}

}  // namespace
}  // namespace fusescope::testing
