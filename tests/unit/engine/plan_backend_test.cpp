// A plan says what runs its segments: of an engine for another backend than the plan's own a copy does.
#include "engine/kernels/plan_backend.h"
#include "base/json.h"

#include "tests/unit/engine/engine_fixture.h"

namespace fusescope::testing {
namespace {

/// Falls back in the middle, and has a branch of an If.
constexpr const char* kNetwork = R"(
  input %c: bool[]
  input %x: f32[2, 8]
  %a: f32[2, 8] = Exp(%x) {name="exp"}
  %b: f32[2, 8] = Neg(%a) {name="neg"}
  %y: f32[2, 8] = If(%c) <else_branch=body (%a) graph "e" {
      input %a: f32[2, 8]
      %n: f32[2, 8] = Neg(%a) {name="inner_neg"}
      output %n },
    then_branch=body (%b) graph "t" {
      input %b: f32[2, 8]
      %r: f32[2, 8] = Relu(%b) {name="inner_relu"}
      output %r }> {name="the_if"}
  output %y
)";

std::shared_ptr<const Plan> networkPlan() {
  return planOf(modelOfText(kNetwork), {.directives = {fallbackDirective("neg")}});
}

/// Everything accelerated in `plan` says `backend`, bodies included, and nothing else does.
void expectRunBy(const Plan& plan, const std::string& backend) {
  EXPECT_EQ(plan.target.acceleratedBackend, backend);
  for (const Segment& segment : plan.segments)
    EXPECT_EQ(segment.backend, segment.kind == SegmentKind::Accelerated ? backend : "reference") << segment.name;
  for (const FusedNode& fused : plan.fusedNodes)
    EXPECT_EQ(backendOf(plan, fused).name(), plan.inFallback(fused) ? "reference" : backend) << fused.name;
  for (const CoverBody& body : plan.bodies) expectRunBy(plannedBody(body), backend);
}

TEST(PlanBackend, IsThatOfThePlanWhereNoOtherIsAskedFor) {
  const auto plan = networkPlan();
  ASSERT_EQ(plan->bodies.size(), 2U);
  expectRunBy(*plan, "native");
  EXPECT_EQ(planRunBy(plan, ""), plan);
  EXPECT_EQ(planRunBy(plan, "native"), plan);
  const auto engine = engineOf(plan, {.threads = 1, .measureTactics = false});
  EXPECT_EQ(&engine->plan(), plan.get());
  EXPECT_EQ(engine->made(), plan);
}

TEST(PlanBackend, IsSaidByACopyWhereAnotherIsAskedFor) {
  const auto plan = networkPlan();
  const auto changed = planRunBy(plan, "reference");
  expectRunBy(*changed, "reference");
  expectRunBy(*plan, "native");
  EXPECT_EQ(changed->hash, plan->hash);
  EXPECT_EQ(toJson(*planRunBy(changed, "native")).dump(), toJson(*plan).dump()) << "nothing else is changed";
}

TEST(PlanBackend, IsNotPartOfWhatAnEngineFileHoldsOfThePlan) {
  const auto plan = networkPlan();
  const auto engine = engineOf(plan, {.backend = "reference", .threads = 1, .measureTactics = false});
  expectRunBy(engine->plan(), "reference");
  const TemporaryFolder folder;
  ASSERT_TRUE(engine->save(folder / "e.fse").ok());
  const auto file = openEngineFile(folder / "e.fse");
  ASSERT_TRUE(file.ok()) << file.error().text();
  EXPECT_EQ(toJson(*file.value().plan).dump(), toJson(*plan).dump()) << "it is not made anew";
  const auto loaded = loadEngine(file.value(), {.threads = 1, .measureTactics = false});
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  expectRunBy(loaded.value()->plan(), "reference");
}

}  // namespace
}  // namespace fusescope::testing
