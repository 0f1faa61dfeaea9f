// What is said of regions whose times are not kept: in what the nearest region with kept times differs.
#include "engine/kept_times.h"

#include "base/text.h"
#include "cache/timing_cache.h"
#include "engine/kernels/input_check.h"
#include "engine/kernels/kernel_requests.h"
#include "engine/kernels/plan_backend.h"
#include "engine/kernels/region_key.h"
#include "engine/kernels/region_key_fields.h"
#include "tests/unit/engine/engine_fixture.h"

namespace fusescope::testing {
namespace {

/// A norm of rows, with what tests change in it.
std::shared_ptr<const Model> normOf(const std::string& epsilon, const std::string& rows = "2") {
  const std::string type = "f32[" + rows + ", 4]";
  return modelOfText("input %x: " + type + R"(
  const %scale: f32[4] = [1, 2, 3, 4]
  %y: )" + type + R"( = LayerNormalization(%x, %scale) <axis=-1, epsilon=)" +
                     epsilon + "> {name=\"norm\"}\n  output %y");
}

class KeptTimesTest : public ::testing::Test {
 protected:
  /// Keeps a time of each region of the plan, as a build does that measures them.
  void keep(const Plan& plan, TimingContext context) const {
    const auto cache = TimingCache::open(m_file).value();
    const auto requests = KernelRequests::create(plan, buildExtents(plan, {}).value(), 1).value();
    for (const FusedNode& fused : plan.fusedNodes)
      cache->store(regionTimeKey(regionKey(requests.of(fused).value()), context), {.ms = 1, .day = "2026-11-28"});
  }
  void keep(const Plan& plan) const { keep(plan, timingContext(plan, acceleratedBackendOf(plan), 1)); }

  std::vector<KeptRegion> kept(const std::shared_ptr<const Plan>& plan, int threads = 1) const {
    auto regions = keptTimes(plan, {.threads = threads, .timingCache = m_file});
    EXPECT_TRUE(regions.ok()) << regions.error().text();
    return regions.ok() ? std::move(regions).value() : std::vector<KeptRegion>();
  }
  /// The differences of the only region of a network: "attributes: epsilon=0.5 instead of epsilon=0.25".
  std::string differences(const std::shared_ptr<const Plan>& plan, int threads = 1) const {
    const std::vector<KeptRegion> regions = kept(plan, threads);
    EXPECT_EQ(regions.size(), 1U);
    std::vector<std::string> texts;
    for (const TimeDifference& each : regions.front().differs)
      texts.push_back(each.field + ": " + each.here + " instead of " + each.nearest);
    return joined(texts, "; ");
  }

  TemporaryFolder m_folder;
  std::filesystem::path m_file = m_folder / "timings.sqlite";
};

TEST_F(KeptTimesTest, AnEqualRegionIsFound) {
  const auto plan = planOf(normOf("0.25"));
  keep(*plan);
  EXPECT_TRUE(kept(plan).front().isOnlyChosen || kept(plan).front().timed > 0);
}

TEST_F(KeptTimesTest, ADifferentAttributeIsNamed) {
  keep(*planOf(normOf("0.25")));
  EXPECT_EQ(differences(planOf(normOf("0.5"))), "attributes: epsilon=0.5 instead of epsilon=0.25");
  EXPECT_EQ(keptText(kept(planOf(normOf("0.5"))).front()),
            "not kept; the nearest: attributes epsilon=0.5 instead of epsilon=0.25");
}

TEST_F(KeptTimesTest, DifferentExtentsAreNamed) {
  keep(*planOf(normOf("0.25")));
  EXPECT_EQ(differences(planOf(normOf("0.25", "3"))), "extents: 3x4, 3x4 instead of 2x4, 2x4");
}

TEST_F(KeptTimesTest, APinDiffersInTypesAndContract) {
  const auto model = modelOfText(R"(input %x: f32[2, 4]
  const %w: f32[4, 4] = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]
  %y: f32[2, 4] = MatMul(%x, %w) {name="product"}
  output %y)");
  keep(*planOf(model));
  const auto pinned = planOf(model, {.directives = {parsePin("product=bf16").value()}});
  std::vector<std::string> fields;
  const std::vector<KeptRegion> regions = kept(pinned);
  for (const TimeDifference& each : regions.front().differs) fields.push_back(each.field);
  EXPECT_EQ(joined(fields), "types, contract");
}

TEST_F(KeptTimesTest, ConditionsOfAnEqualRegionAreNearerThanAnotherRegion) {
  const auto plan = planOf(normOf("0.25"));
  keep(*plan);
  keep(*planOf(normOf("0.5", "3")));
  EXPECT_EQ(differences(plan, 2), "threads: 2 instead of 1");
  TimingContext elsewhere = timingContext(*plan, acceleratedBackendOf(*plan), 1);
  elsewhere.fingerprint = "another machine";
  const auto other = planOf(normOf("0.75", "5"));
  keep(*other, elsewhere);
  const std::vector<TimeDifference> differs = kept(other).front().differs;
  ASSERT_EQ(differs.size(), 1U);
  EXPECT_EQ(differs.front().field, "machine and libraries");
  EXPECT_EQ(differs.front().nearest, "another machine");
}

TEST_F(KeptTimesTest, NothingOfAnotherNetworkIsSimilar) {
  keep(*planOf(modelOfText(R"(input %x: f32[2, 4]
  %y: f32[2, 4] = Softmax(%x) <axis=-1> {name="softmax"}
  output %y)")));
  const auto plan = planOf(normOf("0.25"));
  EXPECT_EQ(differences(plan), "");
  EXPECT_EQ(keptText(kept(plan).front()), "not kept, and nothing similar is");
}

TEST(TimesGroup, HoldsTheTimesOfOneRegionOnOneKindOfMachine) {
  const TimingContext here{.fingerprint = "this machine", .backend = "native", .threads = 2};
  TimingContext elsewhere = here, otherThreads = here;
  elsewhere.fingerprint = "another machine";
  otherThreads.threads = 1;
  const std::string group = timesGroup(regionTimeKey("region", here));
  EXPECT_NE(group, "");
  EXPECT_EQ(timesGroup(timingKey("region", {.name = "tactic"}, here)), group);
  EXPECT_EQ(timesGroup(mixedTimeKey("region", here)), group);
  for (const std::string& other :
       {regionTimeKey("region", elsewhere), regionTimeKey("region", otherThreads), regionTimeKey("other", here),
        conversionTimeKey({DataType::F32, {4}}, {DataType::F16, {4}}, here)}) {
    EXPECT_NE(timesGroup(other), "");
    EXPECT_NE(timesGroup(other), group);
  }
  EXPECT_EQ(timesGroup("the peak of this machine"), "");
}

TEST(RegionFields, OfEveryRegionOfASampleAreRead) {
  for (const char* sample : {"bert_tiny", "tiny_resnet_dynbatch", "moe_dense"}) {
    const auto plan = planOf(sampleModel(sample));
    const auto requests = KernelRequests::create(*plan, buildExtents(*plan, {}).value(), 1).value();
    for (const FusedNode& fused : plan->fusedNodes) {
      const auto request = requests.of(fused);
      if (!request.ok()) continue;
      const auto fields = regionFields(regionKey(request.value()));
      ASSERT_TRUE(fields.has_value()) << fused.name;
      EXPECT_EQ(fields->front().items.size(), fused.nodes.size());
      EXPECT_EQ(fields->at(2).items.size(), fused.nodes.size());
    }
  }
  EXPECT_FALSE(regionFields("no key").has_value());
  EXPECT_FALSE(regionFields("").has_value());
}

}  // namespace
}  // namespace fusescope::testing
