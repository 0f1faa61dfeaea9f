// An engine for open extents that builds engines for the extents that it meets. Clock, builds and engines are the
// test's own, so that nothing depends on real time.
#include "engine/specialising_engine.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "tests/unit/engine/engine_fixture.h"

namespace fusescope::testing {
namespace {

/// What a call takes, on the clock of the test.
struct FakeClock {
  double nowMs = 0;
};

/// Answers with its own name as the output, in a time that is given; `fails`: its runs end with an error.
class FakeEngine final : public Engine {
 public:
  FakeEngine(std::shared_ptr<const Plan> plan, FakeClock& clock, double ms, float answer, bool fails = false)
      : m_plan(std::move(plan)), m_clock(clock), m_ms(ms), m_answer(answer), m_fails(fails) {}
  const Plan& plan() const override { return *m_plan; }
  std::shared_ptr<const Cover> made() const override { return m_plan; }
  const BuildReport& report() const override { return m_report; }
  const std::string& backend() const override { return m_backend; }
  int threads() const override { return 1; }
  Result<RunResult> run(const std::map<std::string, Tensor>& /*inputs*/, const std::vector<std::string>& mark,
                        const StopToken& stop) override {
    TRY(checkStop(stop));
    if (m_fails) return Diagnostic{.message = "this engine fails"};
    m_clock.nowMs += m_ms;
    RunResult result;
    result.outputs.emplace("y", Tensor::scalar(m_answer));
    for (const std::string& value : mark) result.marked.emplace(value, Tensor::scalar(m_answer));
    return result;
  }
  Result<TimeReport> time(const std::map<std::string, Tensor>& /*inputs*/, const TimeOptions& /*options*/) override {
    return TimeReport{.medianMs = m_ms, .samples = 1};
  }
  Status save(const std::filesystem::path& /*path*/) const override { return Done{}; }

 private:
  std::shared_ptr<const Plan> m_plan;
  FakeClock& m_clock;
  double m_ms;
  float m_answer;
  bool m_fails;
  BuildReport m_report;
  std::string m_backend = "fake";
};

constexpr float kGeneralAnswer = 1, kSpecialisedAnswer = 2;

/// Builds that wait until the test lets them go on, or are cancelled.
class Gate {
 public:
  void open() {
    const std::scoped_lock lock(m_mutex);
    m_isOpen = true;
    m_changed.notify_all();
  }
  void pass(const StopToken& stop) {
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, stop, [&] { return m_isOpen; });
  }

 private:
  std::mutex m_mutex;
  std::condition_variable_any m_changed;
  bool m_isOpen = false;
};

class Specialising : public ::testing::Test {
 protected:
  /// The general engine takes 10 ms a call, the others what `specialisedMs` says.
  std::unique_ptr<SpecialisingEngine> engine(SpecialiseOptions options = {}) {
    if (!options.specialise) {
      options.specialise = [this](const std::map<std::string, Dims>&, const StopToken&) -> Result<SpecialisedEngine> {
        return made();
      };
    }
    options.nowMs = [this] { return m_clock.nowMs; };
    return std::make_unique<SpecialisingEngine>(
        std::make_unique<FakeEngine>(m_plan, m_clock, 10, kGeneralAnswer, m_generalFails), std::move(options));
  }
  SpecialisedEngine made() {
    ++m_builds;
    SpecialisedEngine made;
    made.engine =
        std::make_unique<FakeEngine>(m_plan, m_clock, m_specialisedMs, kSpecialisedAnswer, m_specialisedFails);
    made.bytes = m_bytes;
    return made;
  }
  static std::map<std::string, Tensor> inputs(std::int64_t batch) { return {{"x", noise({batch, 4}, 1)}}; }
  static std::map<std::string, Dims> extents(std::int64_t batch) { return {{"x", {batch, 4}}}; }
  static float call(SpecialisingEngine& engine, std::int64_t batch) {
    const auto result = engine.run(inputs(batch));
    if (!result.ok()) throw std::runtime_error(result.error().text());
    return result.value().outputs.at("y").data<float>()[0];
  }
  /// So many calls of these extents, each after the build that goes on, if one does.
  static void callOften(SpecialisingEngine& engine, std::int64_t batch, int calls) {
    for (int i = 0; i < calls; ++i) {
      call(engine, batch);
      engine.awaitBuild();
    }
  }
  static ServingState stateOf(const SpecialisingEngine& engine, std::int64_t batch) {
    return engine.served(extents(batch))->state;
  }
  static std::vector<std::string> codes(const SpecialisingEngine& engine) {
    std::vector<std::string> codes;
    for (const Decision& decision : engine.decisions()) codes.push_back(decision.code);
    return codes;
  }
  static const Decision& last(const SpecialisingEngine& engine) { return engine.decisions().back(); }

  /// Calls until an engine of 5 ms a call has taken over.
  static constexpr int kEnough =
      2 + 2 * static_cast<int>(ServingTrial::kSettlingMs / 5 + ServingTrial::kLeastCalls + 2);
  std::shared_ptr<const Plan> m_plan = planOf(smallNetwork());
  FakeClock m_clock;
  double m_specialisedMs = 5;
  std::int64_t m_bytes = 1000;
  bool m_generalFails = false, m_specialisedFails = false;
  std::atomic<int> m_builds = 0;
};

TEST_F(Specialising, TheGeneralEngineServesAtOnceWhileABuildIsHeldUp) {
  Gate gate;
  SpecialiseOptions options;
  options.specialise = [&](const std::map<std::string, Dims>&, const StopToken& stop) -> Result<SpecialisedEngine> {
    gate.pass(stop);
    return made();
  };
  const auto engine = this->engine(std::move(options));
  EXPECT_FALSE(engine->served(extents(3)));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(call(*engine, 3), kGeneralAnswer);
  EXPECT_TRUE(engine->isBuilding());
  EXPECT_EQ(stateOf(*engine, 3), ServingState::Building);
  EXPECT_EQ(m_clock.nowMs, 200) << "nobody waited for the build";
  EXPECT_EQ(codes(*engine), (std::vector<std::string>{"build.extents_new", "build.extents_building"}));
  EXPECT_EQ(message(last(*engine)),
            "x [3, 4] occurred 2 times: an engine for exactly these extents is built in the background, and the "
            "general engine answers meanwhile");
  gate.open();
  engine->awaitBuild();
  EXPECT_EQ(stateOf(*engine, 3), ServingState::Trying);
}

TEST_F(Specialising, OneCallIsNotWorthABuild) {
  const auto engine = this->engine();
  for (std::int64_t batch = 1; batch <= 8; ++batch) call(*engine, batch);
  EXPECT_FALSE(engine->isBuilding());
  EXPECT_EQ(m_builds, 0);
  EXPECT_EQ(codes(*engine), std::vector<std::string>(8, "build.extents_new"));
}

TEST_F(Specialising, TheFasterEngineTakesOverAndSaysBothTimes) {
  const auto engine = this->engine();
  callOften(*engine, 3, kEnough + 2);
  EXPECT_EQ(codes(*engine), (std::vector<std::string>{"build.extents_new", "build.extents_building",
                                                      "build.extents_built", "build.extents_taken_over"}));
  EXPECT_EQ(message(last(*engine)),
            "the engine for x [3, 4] takes over: a call takes 5.00 ms with it, and 10.0 ms with the general "
            "engine");
  const auto served = *engine->served(extents(3));
  EXPECT_EQ(served.state, ServingState::TakenOver);
  EXPECT_EQ(served.general->ms, 10);
  EXPECT_EQ(served.specialised->ms, 5);
  EXPECT_TRUE(served.takenOverMs && served.buildMs);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(call(*engine, 3), kSpecialisedAnswer);
  EXPECT_EQ(engine->served(extents(3))->last, ServedBy::Specialised);
  EXPECT_EQ(call(*engine, 4), kGeneralAnswer) << "it is for these extents alone";
  EXPECT_EQ(engine->time(inputs(3), {}).value().medianMs, 5);
  EXPECT_EQ(engine->time(inputs(4), {}).value().medianMs, 10);
}

TEST_F(Specialising, WhatIsNotFasterIsDropped) {
  for (const double ms : {10.0, 20.0}) {
    m_specialisedMs = ms;
    m_builds = 0;
    const auto engine = this->engine();
    callOften(*engine, 3, 4 * static_cast<int>(ServingTrial::kMostCalls));
    EXPECT_EQ(codes(*engine), (std::vector<std::string>{"build.extents_new", "build.extents_building",
                                                        "build.extents_built", "build.extents_not_faster"}));
    EXPECT_EQ(last(*engine).arguments["general_ms"], 10);
    EXPECT_EQ(last(*engine).arguments["specialised_ms"], ms);
    EXPECT_FALSE(last(*engine).allowed);
    EXPECT_EQ(stateOf(*engine, 3), ServingState::GeneralKept);
    EXPECT_EQ(call(*engine, 3), kGeneralAnswer);
    EXPECT_EQ(engine->bytes(), 0);
    EXPECT_EQ(m_builds, 1);
  }
}

TEST_F(Specialising, WhatWasNotFasterIsTriedAgainMuchLaterAndThenLaterStill) {
  m_specialisedMs = 20;
  const auto engine = this->engine();
  const auto callUntilKept = [&] {
    callOften(*engine, 3, 1);
    while (stateOf(*engine, 3) != ServingState::GeneralKept) callOften(*engine, 3, 1);
  };
  callOften(*engine, 3, 2);
  for (const int trials : {1, 2}) {
    callUntilKept();
    EXPECT_EQ(m_builds, trials);
    callOften(*engine, 3, static_cast<int>(SpecialisingEngine::kCallsBetweenTrials) * trials - 1);
    EXPECT_EQ(m_builds, trials) << "not yet";
    if (trials == 2) m_specialisedMs = 5;
    callOften(*engine, 3, 1);
    EXPECT_EQ(m_builds, trials + 1);
  }
  callOften(*engine, 3, kEnough + 2);
  EXPECT_EQ(stateOf(*engine, 3), ServingState::TakenOver) << "the machine is quiet now";
}

TEST_F(Specialising, ABuildThatFailsKeepsTheGeneralEngine) {
  SpecialiseOptions options;
  options.specialise = [](const std::map<std::string, Dims>&, const StopToken&) -> Result<SpecialisedEngine> {
    return Diagnostic{.message = "no kernel", .where = {.node = "matmul"}};
  };
  const auto engine = this->engine(std::move(options));
  callOften(*engine, 3, 10);
  EXPECT_EQ(codes(*engine),
            (std::vector<std::string>{"build.extents_new", "build.extents_building", "build.extents_failed"}));
  EXPECT_EQ(message(last(*engine)),
            "no engine for x [3, 4] could be built, and the general engine keeps answering: node 'matmul': no kernel");
  options.specialise = [](const std::map<std::string, Dims>&, const StopToken&) -> Result<SpecialisedEngine> {
    throw std::runtime_error("thrown");
  };
  const auto throwing = this->engine(std::move(options));
  callOften(*throwing, 3, 3);
  EXPECT_EQ(last(*throwing).code, "build.extents_failed");
}

TEST_F(Specialising, AnotherContractKeepsTheGeneralEngine) {
  SpecialiseOptions options;
  options.specialise = [](const std::map<std::string, Dims>&, const StopToken&) -> Result<SpecialisedEngine> {
    SpecialisedEngine none;
    none.difference = ContractDifference{"node 'matmul'", DataType::F16, DataType::F32};
    return none;
  };
  const auto engine = this->engine(std::move(options));
  callOften(*engine, 3, 10);
  EXPECT_EQ(last(*engine).code, "build.extents_other_types");
  EXPECT_EQ(message(last(*engine)),
            "an engine for x [3, 4] would calculate node 'matmul' in f32, and the general engine calculates it in f16: "
            "the results would differ, so the general engine keeps answering");
  EXPECT_EQ(stateOf(*engine, 3), ServingState::GeneralKept);
}

TEST_F(Specialising, AnEngineThatFailsWhileItRunsIsDroppedAndTheCallIsAnswered) {
  m_specialisedFails = true;
  const auto engine = this->engine();
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(call(*engine, 3), kGeneralAnswer);
    engine->awaitBuild();
  }
  EXPECT_EQ(last(*engine).code, "build.extents_run_failed");
  EXPECT_EQ(stateOf(*engine, 3), ServingState::GeneralKept);
}

TEST_F(Specialising, ErrorsOfTheGeneralEngineAreTheCallersAndTeachNothing) {
  m_generalFails = true;
  const auto engine = this->engine();
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(engine->run(inputs(3)).ok());
  EXPECT_TRUE(codes(*engine).empty());
  EXPECT_EQ(m_builds, 0);
}

TEST_F(Specialising, TheOneUsedLongestAgoGoesFirst) {
  const auto engine = this->engine({.mostEngines = 2});
  for (const std::int64_t batch : {1, 2}) callOften(*engine, batch, kEnough + 2);
  call(*engine, 1);
  callOften(*engine, 3, kEnough + 2);
  EXPECT_EQ(engine->engines(), 2U);
  EXPECT_EQ(call(*engine, 1), kSpecialisedAnswer);
  EXPECT_EQ(call(*engine, 2), kGeneralAnswer);
  EXPECT_EQ(call(*engine, 3), kSpecialisedAnswer);
  const auto all = codes(*engine);
  const auto dropped = std::ranges::find(all, "build.extents_dropped");
  ASSERT_NE(dropped, all.end());
  EXPECT_EQ(
      message(engine->decisions()[static_cast<std::size_t>(dropped - all.begin())]),
      "the engine for x [2, 4], the one that was used longest ago, is dropped and frees 1000 B: there is room for "
      "2 engines, and the engine for x [3, 4] is new. The general engine answers from now on");
}

TEST_F(Specialising, WhatWasDroppedMustBeMetMoreOftenUntilItIsBuiltAgain) {
  const auto engine = this->engine({.mostEngines = 1});
  callOften(*engine, 1, kEnough + 2);
  callOften(*engine, 2, kEnough + 2);
  EXPECT_EQ(m_builds, 2);
  callOften(*engine, 1, 2 * static_cast<int>(SpecialisingEngine::kPatienceAfterDrop) - 1);
  EXPECT_EQ(m_builds, 2);
  EXPECT_EQ(stateOf(*engine, 1), ServingState::Seen);
  callOften(*engine, 1, 1);
  EXPECT_EQ(m_builds, 3);
  EXPECT_EQ(stateOf(*engine, 1), ServingState::Trying);
  EXPECT_EQ(stateOf(*engine, 2), ServingState::Seen);
}

TEST_F(Specialising, MemoryIsBounded) {
  m_bytes = 400;
  const auto engine = this->engine({.mostEngines = 10, .mostBytes = 1000});
  for (std::int64_t batch = 1; batch <= 6; ++batch) {
    callOften(*engine, batch, kEnough + 2);
    EXPECT_LE(engine->bytes(), 1000);
  }
  EXPECT_EQ(engine->engines(), 2U);
  EXPECT_EQ(engine->bytes(), 800);
  m_bytes = 1001;
  callOften(*engine, 7, 4);
  EXPECT_EQ(last(*engine).code, "build.extents_too_large");
  EXPECT_EQ(stateOf(*engine, 7), ServingState::GeneralKept);
  EXPECT_EQ(engine->bytes(), 800) << "nothing was dropped for what does not fit at all";
}

TEST_F(Specialising, WhatIsRememberedIsBounded) {
  const auto engine = this->engine();
  callOften(*engine, 1, kEnough + 2);
  const auto most = static_cast<std::int64_t>(SpecialisingEngine::kMostRemembered);
  for (std::int64_t batch = 2; batch < 3 * most; ++batch) call(*engine, batch);
  EXPECT_FALSE(engine->served(extents(2)));
  EXPECT_TRUE(engine->served(extents(3 * most - 1)));
  EXPECT_EQ(call(*engine, 1), kSpecialisedAnswer) << "what has an engine is not forgotten";
  EXPECT_LE(engine->decisions().size(), SpecialisingEngine::kMostDecisions);
}

TEST_F(Specialising, OneBuildGoesOnAtATime) {
  Gate gate;
  std::atomic<int> running = 0, most = 0;
  SpecialiseOptions options;
  options.specialise = [&](const std::map<std::string, Dims>&, const StopToken& stop) -> Result<SpecialisedEngine> {
    most = std::max(most.load(), ++running);
    gate.pass(stop);
    --running;
    return made();
  };
  const auto engine = this->engine(std::move(options));
  for (int i = 0; i < 4; ++i)
    for (std::int64_t batch = 1; batch <= 3; ++batch) call(*engine, batch);
  EXPECT_EQ(stateOf(*engine, 1), ServingState::Building);
  EXPECT_EQ(stateOf(*engine, 2), ServingState::Seen);
  gate.open();
  for (int i = 0; i < 3; ++i) engine->awaitBuild();
  EXPECT_EQ(m_builds, 3);
  EXPECT_EQ(most, 1);
}

TEST_F(Specialising, DestroyingItCancelsTheBuild) {
  std::atomic<bool> began = false, wasCancelled = false;
  SpecialiseOptions options;
  options.specialise = [&](const std::map<std::string, Dims>&, const StopToken& stop) -> Result<SpecialisedEngine> {
    began = true;
    Gate().pass(stop);
    wasCancelled = stop.stop_requested();
    return Diagnostic::cancellation();
  };
  auto engine = this->engine(std::move(options));
  callOften(*engine, 3, 1);
  call(*engine, 3);
  while (!began) std::this_thread::yield();
  engine.reset();
  EXPECT_TRUE(wasCancelled);
}

TEST_F(Specialising, MarkedValuesAreTheGeneralEngines) {
  const auto engine = this->engine();
  callOften(*engine, 3, kEnough + 2);
  ASSERT_EQ(stateOf(*engine, 3), ServingState::TakenOver);
  const auto marked = engine->run(inputs(3), {"sum"});
  EXPECT_EQ(marked.value().marked.at("sum").data<float>()[0], kGeneralAnswer);
}

TEST_F(Specialising, FixedExtentsAreLeftAlone) {
  m_plan = planOf(twoGathers());
  const auto engine = this->engine();
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(engine->run({}).ok());
  EXPECT_EQ(codes(*engine), std::vector<std::string>{"build.extents_fixed"});
  EXPECT_EQ(m_builds, 0);
}

TEST(SpecialisedEngines, AreBuiltBesideOurOwnEnginesAlone) {
  FakeClock clock;
  const FakeEngine other(planOf(smallNetwork()), clock, 1, 1);
  const auto refused = specialiserOf(other, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().text().find("an engine of our own compiler can have specialised engines"),
            std::string::npos);
}

}  // namespace
}  // namespace fusescope::testing
