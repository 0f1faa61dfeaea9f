#include <sqlite3.h>

#include <algorithm>
#include <fstream>

#include "base/json.h"
#include "engine/engine_file.h"
#include "engine/kernels/kernel_requests.h"
#include "engine/kernels/region_key.h"
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
  EXPECT_FALSE(decision->arguments["known"].text()->empty());
}

TEST(BuildDecisions, ATacticThatIsGoneIsChosenAnew) {
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

/// A timing cache that says what a test wants of the one fused node of smallNetwork().
class SeededTimes {
 public:
  SeededTimes() : m_plan(planOf(smallNetwork())) {
    const FusedNode& fused = m_plan->fusedNodes.front();
    m_request = KernelRequests::create(*m_plan, {{"x", {2, 4}}}, 1).value().of(fused).value();
    m_tactics = backend().tactics(m_request);
  }
  void store(bool unfused, double ms, double spread) const {
    const auto cache = TimingCache::open(file()).value();
    const TimingContext context = timingContext(*m_plan, backend(), 1);
    for (const Tactic& tactic : m_tactics)
      if ((tactic.implementation == kUnfused) == unfused)
        cache->store(timingKey(regionKey(m_request), tactic, context), {.ms = ms, .spread = spread});
  }
  std::unique_ptr<Engine> build() const {
    return engineOf(m_plan, {.threads = 1, .timingCache = file(), .shapes = {{"x", {2, 4}}}});
  }
  const std::vector<Tactic>& tactics() const { return m_tactics; }

 private:
  static const Backend& backend() { return *findBackend("native"); }
  std::filesystem::path file() const { return m_folder / "times.sqlite"; }
  TemporaryFolder m_folder;
  std::shared_ptr<const Plan> m_plan;
  KernelRequest m_request;
  std::vector<Tactic> m_tactics;
};

TEST(BuildDecisions, TheFusedWayIsGivenUpOnlyWhereItIsClearlySlower) {
  SeededTimes clear;
  ASSERT_TRUE(std::ranges::any_of(clear.tactics(), [](const Tactic& t) { return t.implementation == kUnfused; }));
  clear.store(false, 1.0, 0.05);
  clear.store(true, 0.5, 0.05);
  const auto engine = clear.build();
  const Decision* decision = find(engine->report(), "tactic.unfused");
  ASSERT_NE(decision, nullptr);
  EXPECT_EQ(decision->arguments["ms"], 0.5);
  EXPECT_EQ(decision->arguments["fused_ms"], 1.0);
  EXPECT_EQ(engine->report().tactics.at(0).tactic->implementation, kUnfused);

  SeededTimes noisy;
  noisy.store(false, 1.0, 0.4);
  noisy.store(true, 0.7, 0.4);
  const auto fused = noisy.build();
  EXPECT_EQ(find(fused->report(), "tactic.unfused"), nullptr);
  EXPECT_NE(fused->report().tactics.at(0).tactic->implementation, kUnfused);
  EXPECT_TRUE(fused->report().tactics.at(0).fromCache);
}

TEST(BuildDecisions, OneStoreOfTimesGivesOneChoice) {
  SeededTimes times;
  times.store(false, 1.0, 0.1);
  times.store(true, 1.0, 0.1);
  const auto first = times.build(), second = times.build();
  EXPECT_EQ(first->report().tactics.at(0).tactic, second->report().tactics.at(0).tactic);
  EXPECT_EQ(first->report().tactics.at(0).chosen, times.tactics().front().name) << "of equals the backend's first";
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

/// Runs a script of SQLite on the file, as another program would.
void changeFile(const std::filesystem::path& file, const char* script) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, script, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
  sqlite3_close(database);
}

TEST(BuildDecisions, TimesThatCannotBeKeptAreSaid) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "timings.sqlite";
  std::ignore = TimingCache::open(file);
  changeFile(file, "CREATE TRIGGER refuse BEFORE INSERT ON times BEGIN SELECT RAISE(FAIL, 'no room'); END");
  const auto engine = engineOf(planOf(smallNetwork()), {.threads = 1, .timingCache = file});
  const Decision* said = find(engine->report(), "cache.times_not_kept");
  ASSERT_NE(said, nullptr);
  EXPECT_EQ(message(*said), "new measured times are not kept in " + file.string() + ": SQLite says: no room");
}

TEST(BuildDecisions, ATimingCacheThatCannotBeUsedIsSaid) {
  const TemporaryFolder folder;
  const auto damaged = folder.path() / "damaged.sqlite";
  std::ofstream(damaged) << "this is no database, and long enough to be sure that nobody takes it for one";
  const auto repaired = engineOf(planOf(smallNetwork()), {.threads = 1, .timingCache = damaged});
  EXPECT_NE(find(repaired->report(), "cache.damaged"), nullptr);
  const auto later = folder.path() / "later.sqlite";
  std::ignore = engineOf(planOf(smallNetwork()), {.threads = 1, .timingCache = later});
  changeFile(later, "PRAGMA user_version=99");
  const auto newer = engineOf(planOf(smallNetwork()), {.threads = 1, .timingCache = later});
  const Decision* said = find(newer->report(), "cache.unavailable");
  ASSERT_NE(said, nullptr);
  EXPECT_NE(message(*said).find("written by a later version of Fusescope"), std::string::npos) << message(*said);
  const auto nowhere = folder.path() / "file" / "timings.sqlite";
  std::ofstream(folder.path() / "file") << "not a folder";
  const auto without = engineOf(planOf(smallNetwork()), {.threads = 1, .timingCache = nowhere});
  EXPECT_NE(find(without->report(), "cache.unavailable"), nullptr);
}

}  // namespace
}  // namespace fusescope::testing
