#include "session/runs/verdict.h"
#include "session/inputs/sample_source.h"

#include <gtest/gtest.h>

#include <limits>
#include <utility>

namespace fusescope {
namespace {

TensorComparison compared(const std::string& name, double overRms) {
  TensorComparison comparison{.name = name, .maxAbs = overRms, .maxRel = overRms, .maxOverRms = overRms};
  comparison.ofBound = overRms / *Tolerance::standard().rms;
  comparison.ok = comparison.ofBound <= 1;
  return comparison;
}

TEST(Verdict, PassesWithinTheToleranceAndSaysHowMuchOfItIsTaken) {
  const Evaluation evaluation{.tolerance = Tolerance::standard(),
                              .outputs = {compared("y", 5e-4), compared("z", 1e-5)}};
  const Verdict verdict = verdictOf(evaluation, Tolerance::standard());
  EXPECT_EQ(verdict.kind, Verdict::Kind::Pass);
  EXPECT_EQ(verdict.output, "y");
  EXPECT_DOUBLE_EQ(verdict.ofBound, 0.5);
  EXPECT_TRUE(verdict.firstWrong.empty());
}

TEST(Verdict, FailsAtTheFirstValueThatIsNotFinite) {
  const double infinite = std::numeric_limits<double>::infinity();
  const Evaluation evaluation{.tolerance = Tolerance::standard(),
                              .outputs = {compared("y", infinite)},
                              .values = {compared("a", 2e-3), compared("b", infinite), compared("c", infinite)}};
  const Verdict verdict = verdictOf(evaluation, Tolerance::standard());
  EXPECT_EQ(verdict.kind, Verdict::Kind::Fail);
  EXPECT_EQ(verdict.firstWrong, "b");
  EXPECT_TRUE(verdict.firstNotFinite);
  EXPECT_NE(inWords(verdict).find("first not finite at b"), std::string::npos) << inWords(verdict);
}

TEST(Verdict, WhatHarmsNoReaderIsNotWhereItGoesWrong) {
  const double infinite = std::numeric_limits<double>::infinity();
  Evaluation evaluation{.tolerance = Tolerance::standard(),
                        .outputs = {compared("y", 5e-3)},
                        .values = {compared("mask", infinite), compared("scores", 1e-5), compared("sum", 4e-3)},
                        .madeOf = {{"scores", {"mask"}}, {"sum", {"scores"}}, {"y", {"sum"}}}};
  const Verdict verdict = verdictOf(evaluation, Tolerance::standard());
  EXPECT_EQ(verdict.firstWrong, "sum");
  EXPECT_FALSE(verdict.firstNotFinite);
  evaluation.values[1] = compared("scores", 2e-3);
  EXPECT_EQ(verdictOf(evaluation, Tolerance::standard()).firstWrong, "mask");
}

TEST(Verdict, ABoundOnRmsIsJudgedAnewAndOneOnElementsIsNot) {
  const Evaluation evaluation{.tolerance = Tolerance::standard(),
                              .outputs = {compared("y", 5e-3)},
                              .values = {compared("a", 1e-4), compared("b", 3e-3)}};
  EXPECT_EQ(verdictOf(evaluation, {.rms = 1e-2}).kind, Verdict::Kind::Pass);
  const Verdict failed = verdictOf(evaluation, {.rms = 2e-3});
  EXPECT_EQ(failed.kind, Verdict::Kind::Fail);
  EXPECT_EQ(failed.firstWrong, "b");
  EXPECT_EQ(verdictOf(evaluation, {.absolute = 1.0, .relative = 0.0}).kind, Verdict::Kind::Unknown);
  EXPECT_EQ(verdictOf(fusescope::Run(), RunSettings()).kind, Verdict::Kind::Unknown);
}

TEST(Verdict, SaysWhichSamplesFailAndOnWhichItIsWorst) {
  Evaluation evaluation{.tolerance = Tolerance::standard(), .outputs = {compared("y", 8e-3), compared("z", 1e-3)}};
  evaluation.samples = {{"good", {compared("y", 5e-4), compared("z", 1e-3)}},
                        {"bad", {compared("y", 3e-3), compared("z", 1e-5)}},
                        {"worst", {compared("y", 8e-3), compared("z", 1e-5)}}};
  const Verdict verdict = verdictOf(evaluation, Tolerance::standard());
  EXPECT_EQ(verdict.samples, 3);
  EXPECT_EQ(verdict.failing, 2);
  EXPECT_EQ(verdict.sample, "worst");
  EXPECT_EQ(inWords(verdict), "fails on 2 of 3 samples: y is 8 times over what is allowed on worst");
  const auto each = sampleVerdicts(evaluation, Tolerance::standard());
  ASSERT_EQ(each.size(), 3U);
  EXPECT_EQ(each[0].verdict.kind, Verdict::Kind::Pass);
  EXPECT_EQ(each[0].verdict.output, "z");
  EXPECT_EQ(each[1].verdict.kind, Verdict::Kind::Fail);
  const Verdict wider = verdictOf(evaluation, {.rms = 1e-2});
  EXPECT_EQ(inWords(wider), "passes on 3 samples: worst is y on worst, at 0.8 of what is allowed");
}

TEST(SampleSource, IsSaidInWords) {
  EXPECT_EQ(inWords(SampleSource()), "random inputs");
  EXPECT_EQ(inWords(SampleSource{.paths = {"/a/photos/"}}), "photos");
  EXPECT_EQ(inWords(SampleSource{.paths = {"/a/b.npz", "c.npz", "d.npz"}, .batchAxis = 0}),
            "b.npz and 2 others, cut along axis 0");
}

SampleSource from(const std::string& path) {
  return path.empty() ? SampleSource() : SampleSource{.paths = {path}};
}

TEST(Verdict, IsOfTheEvaluationThatTheSettingsSpeakOf) {
  const auto of = [](const std::string& inputs, double overRms) {
    return Evaluation{.inputs = from(inputs), .tolerance = Tolerance::standard(), .outputs = {compared("y", overRms)}};
  };
  fusescope::Run run;
  run.evaluations = {of("", 5e-3), of("a.npz", 1e-4), of("", 2e-3), of("b.npz", 1e-5)};
  RunSettings settings{.tolerance = Tolerance::standard()};
  EXPECT_EQ(evaluationFor(run, settings), &*std::as_const(run.evaluations[2]));  // the newest on random inputs
  settings.inputs = from("a.npz");
  EXPECT_EQ(evaluationFor(run, settings), &*std::as_const(run.evaluations[1]));
  EXPECT_EQ(verdictOf(run, settings).kind, Verdict::Kind::Pass);
  settings.inputs = from("none.npz");
  EXPECT_EQ(evaluationFor(run, settings), &*std::as_const(run.evaluations[3]));  // there is none on these: the newest
  // One that was made by a tolerance on each element answers for that tolerance, also after a newer one by another.
  Evaluation each = of("a.npz", 1e-4);
  each.tolerance = {.absolute = 1.0, .relative = 0.0};
  run.evaluations.insert(run.evaluations.begin(), each);
  settings = {.inputs = from("a.npz"), .tolerance = each.tolerance};
  EXPECT_EQ(evaluationFor(run, settings), &*std::as_const(run.evaluations[0]));
}

/// A search for pins that was held to the session's tolerance is held to the next one, too.
TEST(Verdict, ASearchFollowsTheToleranceThatItWasHeldTo) {
  RunSettings settings;
  EXPECT_EQ(settings.tolerance, Tolerance::ofLoweredTypes());
  settings.tune.goal.maxError = settings.tolerance.rms;
  setTolerance(settings, {.rms = 0.25});
  EXPECT_EQ(settings.tolerance.rms, 0.25);
  EXPECT_EQ(settings.tune.goal.maxError, 0.25);
  settings.tune.goal.maxError = 0.5;  // the user's own
  setTolerance(settings, {.rms = 0.125});
  EXPECT_EQ(settings.tune.goal.maxError, 0.5);
  settings.tune = {.goal = {.maxError = 0.125}, .metric = "judge"};  // in the unit of the metric
  setTolerance(settings, {.rms = 0.0625});
  EXPECT_EQ(settings.tune.goal.maxError, 0.125);
  settings.tune = {.goal = {.maxError = 0.0625}};
  setTolerance(settings, {.absolute = 1e-3});
  EXPECT_FALSE(settings.tune.goal.maxError);
}

}  // namespace
}  // namespace fusescope
