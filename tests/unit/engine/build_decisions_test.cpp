#include <algorithm>
#include <fstream>

#include "engine/engine_file.h"
#include "tests/unit/engine/engine_fixture.h"

namespace fusescope::testing {
namespace {

// What a build says of tactics and of the timing cache.

const Decision* find(const BuildReport& report, std::string_view code) {
  const auto found = std::ranges::find(report.decisions, code, &Decision::code);
  return found == report.decisions.end() ? nullptr : &*found;
}

Directive tactic(std::string name) {
  return {.kind = DirectiveKind::Tactic, .pattern = "matmul", .rule = std::move(name)};
}

const BuildOptions kQuick{.threads = 1, .measureTactics = false};

TEST(BuildDecisions, ATacticThatIsAskedForIsTakenOrNamed) {
  const auto taken = engineOf(planOf(smallNetwork(), {.directives = {tactic("reference")}}), kQuick);
  EXPECT_NE(find(taken->report(), "tactic.pinned"), nullptr);
  const auto unknown = engineOf(planOf(smallNetwork(), {.directives = {tactic("onednn:unheard")}}), kQuick);
  const Decision* decision = find(unknown->report(), "tactic.unknown");
  ASSERT_NE(decision, nullptr);
  EXPECT_FALSE(decision->arguments["nearest"].get<std::string>().empty());
}

TEST(BuildDecisions, ATacticThatIsGoneIsReplacedByTheNearest) {
  const TemporaryFolder folder;
  const auto plan = planOf(smallNetwork());
  const FusedNode& fused = plan->fusedNodes[0];
  const TacticChoice choice{.fusedNode = fused.name, .identity = fused.identity, .chosen = "onednn:gone"};
  const auto file = folder.path() / "e.fse";
  ASSERT_TRUE(
      writeEngineFile(file, {.plan = plan, .backend = "native", .extents = {{"x", {2, 4}}}, .tactics = {choice}}).ok());
  const auto loaded = loadEngine(file, kQuick);
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  const Decision* decision = find(loaded.value()->report(), "tactic.missing");
  ASSERT_NE(decision, nullptr);
  EXPECT_EQ(decision->arguments["tactic"], "onednn:gone");
  EXPECT_EQ(decision->subjects.at(0), Subject::fusedNode(fused.name, fused.identity.hex()));
  EXPECT_EQ(decisionFromJson(toJson(*decision)).value(), *decision);
}

TEST(BuildDecisions, ExtentsThatDependOnDataAreSaid) {
  GraphEditor editor;
  const ValueId x = editor.addInput("x", f32({Dim(4)}));
  const ValueId places = editor.addValue("places", {DataType::I64, Shape::of(std::vector<Dim>{Dim(1), Dim()})});
  editor.addNode({.op = "NonZero", .name = "nonzero", .inputs = {x}, .outputs = {places}});
  editor.addOutput(places);
  const auto engine = engineOf(planOf(modelOf(editor)), kQuick);
  EXPECT_NE(find(engine->report(), "tactic.dynamic"), nullptr);
}

TEST(BuildDecisions, ATimingCacheThatCannotBeUsedIsSaid) {
  const TemporaryFolder folder;
  const auto damaged = folder.path() / "damaged.sqlite";
  std::ofstream(damaged) << "this is no database, and long enough to be sure that nobody takes it for one";
  const auto repaired = engineOf(planOf(smallNetwork()), {.threads = 1, .timingCache = damaged});
  EXPECT_NE(find(repaired->report(), "cache.damaged"), nullptr);
  const auto nowhere = folder.path() / "file" / "timings.sqlite";
  std::ofstream(folder.path() / "file") << "not a folder";
  const auto without = engineOf(planOf(smallNetwork()), {.threads = 1, .timingCache = nowhere});
  EXPECT_NE(find(without->report(), "cache.unavailable"), nullptr);
}

}  // namespace
}  // namespace fusescope::testing
