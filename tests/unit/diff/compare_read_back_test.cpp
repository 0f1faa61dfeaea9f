// Engines of two compilers side by side, as far as the one that is not ours tells.
#include <gtest/gtest.h>

#include "session/artifact.h"
#include "session/compare.h"
#include "session/documents/compare_report.h"
#include "session/documents/engine_reports.h"
#include "session/inputs/samples.h"
#include "session/runs/run_comparison.h"
#include "tests/unit/diff/made_blocks.h"

namespace fusescope::test {
namespace {

/// Runs nothing, and tells of its layers what it is given.
class TellingEngine : public Engine {
 public:
  TellingEngine(std::shared_ptr<const Plan> plan, std::shared_ptr<const Cover> made, std::vector<StepTime> layers)
      : m_plan(std::move(plan)), m_made(std::move(made)), m_layers(std::move(layers)) {}

  const Plan& plan() const override { return *m_plan; }
  std::shared_ptr<const Cover> made() const override { return m_made; }
  const BuildReport& report() const override { return m_report; }
  const std::string& backend() const override { return m_backend; }
  int threads() const override { return 1; }
  Result<RunResult> run(const std::map<std::string, Tensor>&, const std::vector<std::string>&,
                        const StopToken&) override {
    return RunResult{};
  }
  Result<TimeReport> time(const std::map<std::string, Tensor>&, const TimeOptions& options) override {
    TimeReport report{.medianMs = 8, .samples = 1, .made = m_made};
    if (options.perLayer) report.layers = m_layers;
    return report;
  }
  Status save(const std::filesystem::path&) const override { return Done{}; }

 private:
  std::shared_ptr<const Plan> m_plan;
  std::shared_ptr<const Cover> m_made;
  std::vector<StepTime> m_layers;
  BuildReport m_report;
  std::string m_backend;
};

StepTime stepOf(const Cover& made, const std::string& name, std::optional<double> ms) {
  return {.name = name, .fused = made.findFusedNode(name)->id, .tactic = "", .medianMs = ms};
}

TellingEngine ourEngine() {
  const auto plan = ours();
  std::vector<StepTime> layers;
  for (const FusedNode& fused : plan->fusedNodes) layers.push_back(stepOf(*plan, fused.name, 4));
  return {plan, plan, layers};
}

/// One part, of whose second kernel `second` is told.
TellingEngine theirEngine(const std::shared_ptr<const ReadBackPlan>& made, std::optional<double> second) {
  const StepTime part{.name = "segment_0",
                      .fused = {},
                      .tactic = "onnxruntime",
                      .medianMs = 8,
                      .kernels = {stepOf(*made, "first", 2), stepOf(*made, "second", second)}};
  return {made->requested, made, {part}};
}

Result<CompareReport> comparedWithOurs(TellingEngine theirs) {
  TellingEngine own = ourEngine();
  return compareEngines(own, theirs, {.list = {{"given", {}}}}, 0.01);
}

TEST(CompareReadBack, KernelsOfAPartHaveTheirOwnTimes) {
  const auto report = comparedWithOurs(theirEngine(madeAlike(askedOf()), 3));
  ASSERT_TRUE(report.ok()) << report.error().text();
  const auto& groups = report.value().groups;
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_TRUE(groups[0].same && groups[1].same);
  EXPECT_DOUBLE_EQ(groups[0].deltaMs.value(), -2);
  EXPECT_DOUBLE_EQ(groups[1].deltaMs.value(), -1);
  EXPECT_TRUE(report.value().groupsUnavailable.empty());
}

TEST(CompareReadBack, WhatIsNotToldIsUnknownAndThatIsSaid) {
  const auto made = madeAlike(askedOf());
  const auto some = comparedWithOurs(theirEngine(made, std::nullopt));
  ASSERT_TRUE(some.ok()) << some.error().text();
  EXPECT_TRUE(some.value().groups[0].bMs.has_value());
  EXPECT_FALSE(some.value().groups[1].bMs.has_value());
  EXPECT_TRUE(some.value().groups[1].aMs.has_value());
  EXPECT_FALSE(some.value().groups[1].deltaMs || some.value().groups[1].deltaRangeMs);
  EXPECT_TRUE(some.value().bMs.has_value()) << "the whole was timed";
  EXPECT_EQ(some.value().groupsUnavailable, "B: onnxruntime does not report the time of each of its kernels");
  EXPECT_EQ(toJson(some.value())["groups_unavailable"], some.value().groupsUnavailable);

  const auto none = comparedWithOurs({made->requested, made, {}});
  ASSERT_TRUE(none.ok()) << none.error().text();
  for (const CompareGroup& group : none.value().groups) EXPECT_FALSE(group.bMs.has_value());
}

}  // namespace
}  // namespace fusescope::test
