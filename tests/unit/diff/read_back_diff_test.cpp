// Plans of ours beside what another compiler made, and what one made beside what it made with other options.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/files.h"
#include "diff/diff_plans.h"
#include "planning/read_back/compare_prediction.h"
#include "session/diff_input.h"
#include "session/documents/engine_reports.h"
#include "session/open_model.h"
#include "tests/unit/diff/made_blocks.h"
#include "tests/unit/frontends/onnx_files.h"

namespace fusescope::test {
namespace {

PlanDiff diffOfCovers(const Cover& a, const Cover& b) {
  auto diff = diffPlans({.cover = &a, .label = "a"}, {.cover = &b, .label = "b"});
  EXPECT_TRUE(diff.ok()) << diff.error().text();
  return diff.ok() ? std::move(diff).value() : PlanDiff();
}

bool isPrinted(const PlanDiff& diff, const std::string& text) {
  return printDiff(diff).find(text) != std::string::npos;
}

TEST(ReadBackDiff, WhereTheKernelsAreAlikeNoFusionIsAChange) {
  const auto a = ours();
  ASSERT_EQ(a->fusedNodes.size(), 2U);
  const auto b = madeAlike(askedOf());
  const PlanDiff diff = diffOfCovers(*a, *b);
  EXPECT_TRUE(diff.fusions.empty() && diff.fates.empty() && diff.types.empty()) << printDiff(diff);
  EXPECT_TRUE(diff.decisions.empty()) << "what our planner says and what is said of another compiler";
  ASSERT_EQ(diff.differences.size(), 1U);
  EXPECT_EQ(diff.differences[0].kind, DifferenceKind::Compiler);
  EXPECT_EQ(diff.differences[0].text(), "--compiler fusescope → onnxruntime");
  EXPECT_TRUE(isPrinted(diff, "+++ b: onnxruntime 1.18.0 for cpu:avx2, f32, 4 nodes")) << printDiff(diff);
  EXPECT_FALSE(toJson(diff)["a"].contains("compiler"));
  EXPECT_EQ(toJson(diff)["b"]["compiler"], "onnxruntime 1.18.0");
}

TEST(ReadBackDiff, HowWellOneSidePredictsTheOtherIsSaid) {
  const auto asked = askedOf();
  ASSERT_EQ(asked->fusedNodes.size(), 2U);
  const auto made =
      madeOf(asked, {kernelOver(*asked, "all", {"wide0", "relu0", "narrow0"}), kernelOver(*asked, "sum", {"sum0"})});
  for (const bool turned : {false, true}) {
    const PlanDiff diff = turned ? diffOfCovers(*made, *asked) : diffOfCovers(*asked, *made);
    ASSERT_TRUE(diff.prediction);
    EXPECT_EQ(diff.prediction->isA, !turned);
    EXPECT_EQ(toJson(diff.prediction->agreement), toJson(made->agreement));
    EXPECT_TRUE(isPrinted(diff, (turned ? "our prediction (B) of A: " : "our prediction (A) of B: ") +
                                    sharedKernelsText(made->agreement)))
        << printDiff(diff);
    const Json json = toJson(diff)["prediction"];
    EXPECT_EQ(json["prediction"], turned ? "b" : "a");
    EXPECT_EQ(json["agreement"], toJson(*made)["agreement"]);
  }
  const PlanDiff withOurs = diffOfCovers(*ours(), *made);
  EXPECT_FALSE(withOurs.prediction) << "it is what our own engine runs";
  EXPECT_TRUE(toJson(withOurs)["prediction"].is_null());
  EXPECT_FALSE(diffOfCovers(*made, *made).prediction);
}

TEST(ReadBackDiff, AKernelLessIsAMergeWhoseCauseIsNotDisclosed) {
  const auto a = ours();
  const auto asked = askedOf();
  const auto b = madeOf(asked, {kernelOver(*asked, "all", {"wide0", "relu0", "narrow0", "sum0"})});
  for (const bool turned : {false, true}) {
    const PlanDiff diff = turned ? diffOfCovers(*b, *a) : diffOfCovers(*a, *b);
    ASSERT_EQ(diff.fusions.size(), 1U) << printDiff(diff);
    EXPECT_EQ(diff.fusions[0].change, turned ? GroupChange::Split : GroupChange::Merged);
    EXPECT_EQ(diff.fusions[0].nodes, (Names{"wide0", "relu0", "narrow0", "sum0"}));
    EXPECT_TRUE(diff.fusions[0].because.empty());
    EXPECT_FALSE(diff.causesKnown);
    EXPECT_FALSE(diff.same());
    EXPECT_TRUE(isPrinted(diff, kCausesNotDisclosed)) << printDiff(diff);
    EXPECT_TRUE(isPrinted(diff, "cause not disclosed")) << printDiff(diff);
    EXPECT_FALSE(isPrinted(diff, "cause not known")) << printDiff(diff);
    EXPECT_EQ(toJson(diff)["causes_known"], false);
  }
}

TEST(ReadBackDiff, KernelsThatShareANodeAreOneGroup) {
  const auto a = ours();
  const auto asked = askedOf();
  const auto shared = [&](const std::string& name) {
    return madeOf(asked, {kernelOver(*asked, name + "1", {"wide0", "relu0"}),
                          kernelOver(*asked, name + "2", {"relu0", "narrow0", "sum0"})});
  };
  const auto b = shared("k"), again = shared("other");
  const PlanDiff diff = diffOfCovers(*a, *b);
  ASSERT_EQ(diff.fusions.size(), 1U) << printDiff(diff);
  EXPECT_EQ(diff.fusions[0].change, GroupChange::Moved);
  EXPECT_EQ(diff.fusions[0].nodes, (Names{"wide0", "relu0", "narrow0", "sum0"})) << "each once";
  EXPECT_TRUE(diff.fates.empty());
  EXPECT_TRUE(diffOfCovers(*b, *again).same()) << printDiff(diffOfCovers(*b, *again));
  const auto groups = commonCover(*b, *again);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_TRUE(groups[0].same);
}

TEST(ReadBackDiff, ANodeThatSeveralKernelsRunIsSplit) {
  const auto asked = askedOf();
  const auto a = madeOf(asked, {kernelOver(*asked, "k", {"wide0"})});
  const auto b = madeOf(asked, {kernelOver(*asked, "k1", {"wide0"}), kernelOver(*asked, "k2", {"wide0"})});
  const PlanDiff diff = diffOfCovers(*a, *b);
  ASSERT_EQ(diff.fusions.size(), 1U) << printDiff(diff);
  EXPECT_EQ(diff.fusions[0].change, GroupChange::Split);
  EXPECT_EQ(diff.fusions[0].b.size(), 2U);
}

TEST(ReadBackDiff, ANodeWithoutAKernelHasAFateAndBreaksNoFusion) {
  const auto a = ours();
  const auto asked = askedOf();
  for (const auto& [fate, text] : {std::pair(Fate::Folded, "folded"), std::pair(Fate::Removed, "removed"),
                                   std::pair(Fate::View, "view"), std::pair(Fate::NotDisclosed, "not disclosed")}) {
    const auto b = madeOf(asked, {kernelOver(*asked, "k1", {"wide0"}), kernelOver(*asked, "k2", {"narrow0", "sum0"})},
                          {{"relu0", fate}});
    const PlanDiff diff = diffOfCovers(*a, *b);
    EXPECT_TRUE(diff.fusions.empty()) << printDiff(diff);
    EXPECT_TRUE(diff.types.empty()) << printDiff(diff);
    ASSERT_EQ(diff.fates.size(), 1U);
    EXPECT_EQ(diff.fates[0].node, "relu0");
    EXPECT_EQ(diff.fates[0].a, "kernel");
    EXPECT_EQ(diff.fates[0].b, text);
    EXPECT_TRUE(isPrinted(diff, std::string("~ fate kernel → ") + text + ": relu0, cause not disclosed"))
        << printDiff(diff);
    EXPECT_EQ(toJson(diff)["fates"][0]["b"], text);
    EXPECT_FALSE(diff.same());
    EXPECT_TRUE(diffOfCovers(*b, *b).same());
  }
}

TEST(ReadBackDiff, OfWhatNothingIsDisclosedNothingButThatIsSaid) {
  const auto a = ours({DataType::F16});
  const auto b = madeOf(askedOf(), {});
  for (const bool turned : {false, true}) {
    const PlanDiff diff = turned ? diffOfCovers(*b, *a) : diffOfCovers(*a, *b);
    EXPECT_TRUE(diff.fusions.empty() && diff.types.empty() && diff.segments.empty()) << printDiff(diff);
    EXPECT_EQ(diff.fates.size(), 4U);
    EXPECT_FALSE(printDiff(diff).empty());
  }
}

TEST(ReadBackDiff, TypesThatAreNotDisclosedAreNoChange) {
  const auto a = ours({DataType::F16});
  ASSERT_EQ(a->fusedNodes.size(), 2U);
  const auto asked = askedOf();
  const auto silent = madeAlike(asked, DataType::Undefined), telling = madeAlike(asked, DataType::F32);
  EXPECT_TRUE(diffOfCovers(*a, *silent).types.empty());
  EXPECT_TRUE(diffOfCovers(*silent, *a).types.empty());
  const PlanDiff told = diffOfCovers(*a, *telling);
  const auto kernel = std::ranges::find(told.types, TypedThing::FusedNode, &TypeChange::thing);
  ASSERT_NE(kernel, told.types.end()) << printDiff(told);
  EXPECT_EQ(kernel->a, "f16");
  EXPECT_EQ(kernel->b, "f32");
}

TEST(ReadBackDiff, TheSoleDifferenceOfTwoRunsOfOneCompilerCausedEverything) {
  const auto before = askedOf(), after = askedOf({"relu0=f16"});
  const auto a = madeAlike(before);
  const auto broken = [&](const std::string& version) {
    return madeOf(after,
                  {kernelOver(*after, "k1", {"wide0"}), kernelOver(*after, "k2", {"relu0"}, DataType::F16),
                   kernelOver(*after, "k3", {"narrow0"})},
                  {{"sum0", Fate::NotDisclosed}}, version);
  };
  const auto b = broken("1.18.0"), ofAnotherVersion = broken("1.19.0");
  const PlanDiff diff = diffOfCovers(*a, *b);
  EXPECT_TRUE(diff.causesKnown);
  const Causes pin{"--pin relu0=f16 (only in B)"};
  ASSERT_FALSE(diff.fusions.empty() || diff.fates.empty() || diff.types.empty()) << printDiff(diff);
  EXPECT_EQ(diff.fusions[0].change, GroupChange::Broken);
  for (const FusionChange& change : diff.fusions) EXPECT_EQ(change.because, pin);
  for (const FateChange& change : diff.fates) EXPECT_EQ(change.because, pin);
  for (const TypeChange& change : diff.types) EXPECT_EQ(change.because, pin);
  for (const DecisionChange& change : diff.decisions) EXPECT_EQ(change.because, pin);
  EXPECT_TRUE(isPrinted(diff, "because of --pin relu0=f16 (only in B)"));
  EXPECT_EQ(toJson(diff)["causes_known"], true);

  const PlanDiff ofTwo = diffOfCovers(*a, *ofAnotherVersion);
  EXPECT_EQ(ofTwo.differences.size(), 2U);
  EXPECT_FALSE(ofTwo.causesKnown) << "the version or the pin";
  EXPECT_TRUE(ofTwo.fusions[0].because.empty());
}

TEST(ReadBackDiff, AnotherVersionOfTheCompilerIsADifference) {
  const auto asked = askedOf();
  const auto a = madeAlike(asked);
  const auto b = madeOf(asked, {kernelOver(*asked, "all", {"wide0", "relu0", "narrow0", "sum0"})}, {}, "1.19.0");
  const PlanDiff diff = diffOfCovers(*a, *b);
  ASSERT_EQ(diff.differences.size(), 1U);
  EXPECT_EQ(diff.differences[0].kind, DifferenceKind::Compiler);
  ASSERT_EQ(diff.fusions.size(), 1U);
  EXPECT_EQ(diff.fusions[0].because, Causes{"onnxruntime 1.18.0 and onnxruntime 1.19.0"});
}

TEST(ReadBackDiff, KernelsWithoutNodesHaveGroupsOfTheirOwn) {
  const auto a = ours();
  const auto asked = askedOf();
  const auto b = madeOf(asked, {kernelOver(*asked, "reorder", {}), kernelOver(*asked, "first", {"wide0", "relu0"}),
                                kernelOver(*asked, "second", {"narrow0", "sum0"})});
  EXPECT_TRUE(diffOfCovers(*a, *b).fusions.empty());
  const auto groups = commonCover(*a, *b);
  ASSERT_EQ(groups.size(), 3U);
  const auto alone = std::ranges::find_if(groups, [](const CoverGroup& group) { return group.a.empty(); });
  ASSERT_NE(alone, groups.end());
  EXPECT_TRUE(alone->origins.empty());
  EXPECT_EQ(alone->b[0].nodes, 0U);
  EXPECT_FALSE(alone->same);
}

TEST(ReadBackDiff, BodiesThatACompilerDoesNotTellOfAreNoChange) {
  const TemporaryFolder folder;
  const auto model = openModel(folder.write(
      "model.onnx", onnxBytes("g (bool c, float[1, 6] x) => (float[1, 6] z) {"
                              "  [the_if] y = If (c) <then_branch = t () => (float[1, 6] t) { [relu] t = Relu (x) },"
                              "    else_branch = e () => (float[1, 6] e) { [exp] e = Exp (x) }>"
                              "  [last] z = Softmax (y) }")));
  ASSERT_TRUE(model.ok()) << model.error().text();
  const auto a = makePlan(model.value(), {.target = "cpu:avx2"});
  const auto asked = makePlan(model.value(), {.compiler = "onnxruntime", .target = "cpu:avx2"});
  ASSERT_TRUE(a.ok() && asked.ok());
  ASSERT_FALSE(a.value()->bodies.empty());
  const auto b = madeOf(
      asked.value(), {kernelOver(*asked.value(), "if", {"the_if"}), kernelOver(*asked.value(), "softmax", {"last"})});
  for (const bool turned : {false, true}) {
    const PlanDiff diff = turned ? diffOfCovers(*b, *a.value()) : diffOfCovers(*a.value(), *b);
    EXPECT_TRUE(diff.segments.empty() && diff.fusions.empty() && diff.fates.empty()) << printDiff(diff);
  }
  EXPECT_EQ(commonCover(*a.value(), *b).size(), 4U) << "those of the bodies in A alone";
}

TEST(ReadBackDiff, TimesOfAnArtifactAreThoseThatItsCompilerTold) {
  const auto asked = askedOf();
  std::vector<ReadBackKernel> kernels{kernelOver(*asked, "first", {"wide0", "relu0"}),
                                      kernelOver(*asked, "second", {"narrow0"}), kernelOver(*asked, "third", {"sum0"})};
  kernels[0].ms = 2;
  kernels[2].ms = 8;
  kernels[2].once = true;
  Artifact artifact{.plan = asked, .made = madeOf(asked, kernels)};
  const DiffInput input = diffInput(artifact);
  EXPECT_EQ(input.cover, artifact.made.get());
  const auto timeOf = [&](const char* name) {
    const auto found = input.times.find(artifact.made->findFusedNode(name)->identity);
    return found == input.times.end() ? std::optional<DiffTime>() : found->second;
  };
  ASSERT_TRUE(timeOf("first") && timeOf("third"));
  EXPECT_DOUBLE_EQ(timeOf("first")->ms, 2);
  EXPECT_EQ(timeOf("first")->how, DiffTimeKind::Run);
  EXPECT_DOUBLE_EQ(timeOf("third")->ms, 0) << "it runs once, before all runs";
  EXPECT_FALSE(timeOf("second")) << "it was not told";
}

TEST(ReadBackDiff, TheDocumentOfItsJsonNamesWhatOnlySuchPlansHave) {
  const auto document = readTextFile(std::string(FUSESCOPE_SOURCE_DIR) + "/core/diff/FORMAT.md");
  ASSERT_TRUE(document.ok());
  for (const char* key : {"fates", "causes_known", "`prediction`", "`compiler`", "not disclosed"})
    EXPECT_NE(document.value().find(key), std::string::npos) << key;
  const auto plan = ours();
  const Json json = toJson(diffOfCovers(*plan, *plan));
  EXPECT_FALSE(json.contains("fates") || json.contains("causes_known") || json.contains("prediction"))
      << "two plans of ours have none";
}

}  // namespace
}  // namespace fusescope::test
