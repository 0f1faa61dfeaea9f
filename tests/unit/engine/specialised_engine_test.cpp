// Engines for just some extents, against the general engine beside which they are built; and the trial that decides
// between the two, as a function of times that are given.
#include "engine/specialised_engine.h"

#include <algorithm>
#include <cmath>

#include "cache/timing_cache.h"
#include "engine/specialising_engine.h"
#include "passes/pipelines.h"
#include "tests/unit/engine/engine_fixture.h"

namespace fusescope::testing {
namespace {

/// What is left open after so many calls of each engine, whose times are given.
ServingTrial trialOf(int calls, const std::function<double(int)>& generalMs,
                     const std::function<double(int)>& specialisedMs, bool disturbed = false) {
  ServingTrial trial;
  for (int general = 0, specialised = 0; std::min(general, specialised) < calls;)
    trial.ran(trial.turn() == ServedBy::General ? generalMs(general++) : specialisedMs(specialised++), disturbed);
  return trial;
}

TEST(ServingTrial, OfTwoCallsEachEngineAnswersOneInNoFixedOrder) {
  ServingTrial trial;
  std::map<std::string, int> pairs;
  for (int i = 0; i < 100; ++i) {
    std::string pair;
    for (int k = 0; k < 2; ++k) {
      pair += trial.turn() == ServedBy::General ? 'G' : 'S';
      trial.ran(1, false);
    }
    ++pairs[pair];
  }
  EXPECT_EQ(pairs.size(), 2U);
  EXPECT_GT(pairs["GS"], 30);
  EXPECT_GT(pairs["SG"], 30);
}

TEST(ServingTrial, CallsCountOnceAnEngineHasSettled) {
  // Slow for the time in which it tries fewer threads.
  const auto settling = [](int call) { return call < 5 ? 20.0 : 5.0; };
  const ServingTrial trial = trialOf(
      20, [](int) { return 10.0; }, settling);
  EXPECT_EQ(trial.verdict(), ServingTrial::Verdict::Faster);
  EXPECT_EQ(trial.specialised()->median, 5);
  EXPECT_EQ(trialOf(
                9, [](int) { return 10.0; }, settling)
                .verdict(),
            ServingTrial::Verdict::Open);
  // Calls that are very short settle by their number.
  const auto quick = [](int) { return 0.001; };
  EXPECT_FALSE(trialOf(ServingTrial::kMostSettling, quick, quick).specialised());
  EXPECT_TRUE(trialOf(ServingTrial::kMostSettling + 1, quick, quick).specialised());
}

TEST(ServingTrial, WhatDiffersLessThanItsSpreadIsNotFaster) {
  const auto noisy = [](int call) { return 10.0 + (call % 5); };
  const auto alike = [](int call) { return 9.8 + (call % 5); };
  EXPECT_EQ(trialOf(22, noisy, alike).verdict(), ServingTrial::Verdict::Open);
  EXPECT_EQ(trialOf(static_cast<int>(ServingTrial::kMostCalls) + 12, noisy, alike).verdict(),
            ServingTrial::Verdict::NotFaster);
  EXPECT_EQ(trialOf(40, noisy, [](int call) { return 5.0 + (call % 5) / 10.0; }).verdict(),
            ServingTrial::Verdict::Faster);
}

TEST(ServingTrial, CallsDuringABuildDoNotCountForSomeTime) {
  const auto ten = [](int) { return 10.0; };
  const auto five = [](int) { return 5.0; };
  EXPECT_EQ(trialOf(60, ten, five, true).verdict(), ServingTrial::Verdict::Open);
  EXPECT_FALSE(trialOf(60, ten, five, true).general());
  EXPECT_EQ(trialOf(ServingTrial::kMostDisturbed, ten, five, true).verdict(), ServingTrial::Verdict::Faster)
      << "where builds never end, what there is must do";
}

const BuildOptions kUnmeasured{.threads = 1, .measureTactics = false};

TEST(SpecialisedPlans, FoldWhatDependsOnExtentsAndKeepTypes) {
  const auto model = modelOfText(R"(
    input %x: f32[batch, 4]
    %shape: int64[2] = Shape(%x) {name="shape"}
    %zeros: f32[batch, 4] = ConstantOfShape(%shape) {name="zeros"}
    %raised: f32[batch, 4] = Exp(%zeros) {name="exp"}
    %y: f32[batch, 4] = Add(%x, %raised) {name="add"}
    output %y
  )");
  const auto plan = planOf(model);
  const auto specialised = specialisedPlan(*plan, {{"x", {3, 4}}}, {});
  ASSERT_TRUE(specialised.ok()) << specialised.error().text();
  EXPECT_LT(specialised.value()->graph().order().size(), plan->graph().order().size());
  EXPECT_FALSE(differenceInContract(*plan, *specialised.value()));
}

TEST(SpecialisedPlans, OtherTypesAreADifference) {
  const auto model = smallNetwork();
  const auto plan = planOf(model);
  EXPECT_FALSE(differenceInContract(*plan, *plan));
  PlanOptions lowered;
  lowered.precisions = {DataType::F16};
  const auto difference = differenceInContract(*plan, *planOf(model, lowered));
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->general, DataType::F32);
  EXPECT_EQ(difference->specialised, DataType::F16);
}

/// Runs a real network until its extents have an engine of their own, and holds all results against the general engine
/// and one that was built for these extents alone.
void expectSpecialisedAgrees(const PlanOptions& planOptions, double tolerance) {
  const auto plan = planOf(smallNetwork(), planOptions);
  auto general = engineOf(plan, kUnmeasured);
  SpecialiseOptions options{.specialise = specialiserOf(*general, kUnmeasured).value()};
  options.nowMs = [now = 0.0]() mutable { return now += 10; };  // calls take equally long
  SpecialisingEngine engine(std::move(general), std::move(options));
  BuildOptions fixed = kUnmeasured;
  fixed.shapes = {{"x", {5, 4}}};
  const auto fresh = engineOf(plan, fixed);
  const std::map<std::string, Tensor> inputs{{"x", noise({5, 4}, 7)}};
  const Tensor expected = fresh->run(inputs).value().outputs.at("y");
  for (int i = 0; i < 30; ++i) {
    const auto result = engine.run(inputs);
    ASSERT_TRUE(result.ok()) << result.error().text();
    const Tensor& y = result.value().outputs.at("y");
    ASSERT_EQ(y.dims(), expected.dims());
    for (std::int64_t k = 0; k < y.count(); ++k) EXPECT_NEAR(y.asDouble(k), expected.asDouble(k), tolerance);
    engine.awaitBuild();
  }
  const auto served = *engine.served({{"x", {5, 4}}});
  EXPECT_EQ(served.calls, 30);
  EXPECT_EQ(served.bySpecialised, 14) << "they took turns";
}

TEST(SpecialisedEngines, GiveWhatTheGeneralOneGives) {
  expectSpecialisedAgrees({}, 1e-6);
  PlanOptions lowered;
  lowered.precisions = {DataType::BF16};
  expectSpecialisedAgrees(lowered, 0.05);
}

/// The largest difference of any element from what is expected, over the root of the mean square of that.
double offBy(const Tensor& actual, const Tensor& expected) {
  double squares = 0, most = 0;
  for (std::int64_t i = 0; i < expected.count(); ++i) {
    squares += expected.asDouble(i) * expected.asDouble(i);
    most = std::max(most, std::abs(actual.asDouble(i) - expected.asDouble(i)));
  }
  return most / std::sqrt(squares / static_cast<double>(expected.count()));
}

TEST(SpecialisedEngines, OfASampleGiveWhatAnEngineForTheseExtentsGives) {
  const auto model = sampleModel("tiny_resnet_dynbatch");
  const std::map<std::string, Dims> extents{{"x", {3, 3, 64, 64}}};
  const std::map<std::string, Tensor> inputs{{"x", noise({3, 3, 64, 64}, 5)}};
  for (const auto& [type, tolerance] :
       {std::pair(DataType::F32, 1e-5), {DataType::F16, 1e-2}, {DataType::BF16, 1e-2}}) {
    PlanOptions options;
    if (type != DataType::F32) options.precisions = {type};
    const auto general = engineOf(planOf(model, options), kUnmeasured);
    const auto made = specialiserOf(*general, kUnmeasured).value()(extents, {});
    ASSERT_TRUE(made.ok()) << made.error().text();
    ASSERT_NE(made.value().engine, nullptr) << made.value().difference->what;
    const Tensor specialised = made.value().engine->run(inputs).value().outputs.at("linear");
    const auto fixed = std::make_shared<const Model>(withFixedInputs(*model, extents).value());
    const auto fresh = engineOf(planOf(fixed, options), kUnmeasured);
    EXPECT_LE(offBy(specialised, fresh->run(inputs).value().outputs.at("linear")), tolerance) << name(type);
    EXPECT_LE(offBy(specialised, general->run(inputs).value().outputs.at("linear")), tolerance) << name(type);
    EXPECT_FALSE(made.value().engine->run({{"x", noise({4, 3, 64, 64}, 5)}}).ok()) << "it takes no other extents";
  }
}

TEST(SpecialisedEngines, AreBuiltBesideRunsThatStayRight) {
  const auto plan = planOf(sampleModel("tiny_resnet_dynbatch"));
  const BuildOptions measured{.threads = 1};
  auto general = engineOf(plan, measured);
  SpecialiseOptions options{.specialise = specialiserOf(*general, measured).value()};
  SpecialisingEngine engine(std::move(general), std::move(options));
  std::vector<std::map<std::string, Tensor>> inputs;
  std::vector<Tensor> expected;
  for (std::uint32_t batch = 1; batch <= 3; ++batch) {
    inputs.push_back({{"x", noise({batch, 3, 64, 64}, batch)}});
    expected.push_back(engineOf(plan, kUnmeasured)->run(inputs.back()).value().outputs.at("linear"));
  }
  for (int call = 0; call < 60; ++call) {  // a build goes on during most of them; the last one is cancelled
    const std::size_t which = static_cast<std::size_t>(call) % inputs.size();
    const auto result = engine.run(inputs[which]);
    ASSERT_TRUE(result.ok()) << result.error().text();
    EXPECT_LE(offBy(result.value().outputs.at("linear"), expected[which]), 1e-5);
  }
  EXPECT_TRUE(std::ranges::any_of(engine.decisions(),
                                  [](const Decision& decision) { return decision.code == "build.extents_building"; }));
}

TEST(SpecialisedEngines, AreThereForExtentsThatThePlanDoesNotTakeForGranted) {
  const auto plan = planOf(modelOfText(R"(
    input %x: f32[a, 2]
    input %y: f32[b, 2]
    %z: f32[c, 2] = Add(%x, %y) {name="join"}
    output %z)"));
  ASSERT_FALSE(plan->model->conditions.empty()) << "x and y are taken to have equal extents";
  const auto general = engineOf(plan, kUnmeasured);
  const auto made = specialiserOf(*general, kUnmeasured).value()({{"x", {2, 2}}, {"y", {1, 2}}}, {});
  ASSERT_TRUE(made.ok()) << made.error().text();
  const auto result = made.value().engine->run({{"x", floats({2, 2}, {1, 2, 3, 4})}, {"y", floats({1, 2}, {10, 20})}});
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_TRUE(result.value().outputs.at("z").identical(floats({2, 2}, {11, 22, 13, 24})));
}

TEST(SpecialisedEngines, ShareWeightsWithTheGeneralOne) {
  const auto general = engineOf(planOf(smallNetwork()), kUnmeasured);
  const auto specialise = specialiserOf(*general, kUnmeasured).value();
  const auto made = specialise({{"x", {3, 4}}}, {});
  ASSERT_TRUE(made.ok()) << made.error().text();
  ASSERT_NE(made.value().engine, nullptr);
  EXPECT_EQ(made.value().bytes, made.value().engine->report().arenaBytes)
      << "what it has alone is its arena: weights of " << made.value().engine->report().weightBytes.value_or(0)
      << " bytes are shared";
  EXPECT_EQ(made.value().engine->plan().inputSpecs.front().opt, (Dims{3, 4}));
}

TEST(SpecialisedEngines, KeepNoRoughTimesForOtherBuilds) {
  const TemporaryFolder folder;
  const BuildOptions measured{.threads = 1, .timingCache = folder / "times.sqlite"};
  const auto general = engineOf(planOf(smallNetwork()), measured);
  const std::size_t before = TimingCache::open(measured.timingCache).value()->size();
  const auto made = specialiserOf(*general, measured).value()({{"x", {7, 4}}}, {});
  ASSERT_TRUE(made.ok()) << made.error().text();
  EXPECT_TRUE(std::ranges::any_of(made.value().engine->report().tactics, [](const TacticChoice& choice) {
    return std::ranges::any_of(choice.candidates, [](const TacticTime& time) { return time.ms.has_value(); });
  })) << "its tactics were measured";
  EXPECT_EQ(TimingCache::open(measured.timingCache).value()->size(), before);
}

TEST(SpecialisedEngines, ACancelledBuildEnds) {
  const auto general = engineOf(planOf(smallNetwork()), kUnmeasured);
  std::stop_source stop;
  stop.request_stop();
  const auto made = specialiserOf(*general, kUnmeasured).value()({{"x", {3, 4}}}, stop.get_token());
  ASSERT_FALSE(made.ok());
  EXPECT_TRUE(made.error().cancelled);
}

}  // namespace
}  // namespace fusescope::testing
