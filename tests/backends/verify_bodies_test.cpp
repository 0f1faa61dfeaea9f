// Regions in bodies are verified like those around, on what their bodies are called on; and on every sample.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/files.h"
#include "session/documents/verify_report.h"
#include "session/inputs/load_samples.h"
#include "session/open_artifact.h"
#include "tests/backends/backend_fixture.h"
#include "tests/backends/faulty/faulty_backend.h"

namespace fusescope::testing {
namespace {

using Inputs = std::map<std::string, Tensor>;

/// A product and two operators that fuse with it, five times; u becomes about twice what it was.
constexpr const char* kFiveTimes = R"(
  input %a: f32[1, 2]
  input %w: f32[2, 2]
  const %m: int64[] = [5]
  %y: f32[1, 2] = Loop(%m, _, %a) <body=body (%w) graph "body" {
      input %i: int64[]
      input %on: bool[]
      input %u: f32[1, 2]
      input %w: f32[2, 2]
      %p: f32[1, 2] = MatMul(%u, %w) {name="product"}
      %d: f32[1, 2] = Add(%p, %u) {name="add"}
      %r: f32[1, 2] = Relu(%d) {name="relu"}
      output %on
      output %r }> {name="loop"}
  %z: f32[1, 2] = Neg(%y) {name="last"}
  output %z
)";

Inputs identityInputs(float first) {
  return {{"a", floats({1, 2}, {first, 1})}, {"w", floats({2, 2}, {1, 0, 0, 1})}};
}

Tensor condition(bool value) {
  return Tensor::ofInt64({value ? 1 : 0}).reshaped({}).converted(DataType::Bool);
}

VerifyReport reportOf(const std::shared_ptr<const Plan>& plan, const std::vector<Inputs>& samples,
                      const std::string& wrongOperator, float above = -std::numeric_limits<float>::infinity()) {
  setFaultyOperator(wrongOperator, above);
  auto report = verifyRegions(plan, samples, {.backend = "faulty", .threads = 1, .seeds = 0});
  setFaultyOperator({});
  if (!report.ok()) throw std::runtime_error(report.error().text());
  return std::move(report).value();
}

const RegionVerdict& regionOf(const VerifyReport& report, const std::string& name) {
  const auto found = std::ranges::find(report.regions, name, &RegionVerdict::fusedNode);
  if (found == report.regions.end()) throw std::runtime_error("no region " + name);
  return *found;
}

TEST(VerifyBodies, ARegionInALoopIsVerified) {
  const VerifyReport report = reportOf(planOf(modelOfText(kFiveTimes)), {identityInputs(1)}, {});
  EXPECT_TRUE(report.ok());
  ASSERT_EQ(report.regions.size(), 3U);
  EXPECT_NE(report.regions[0].notChecked.find("bodies"), std::string::npos) << report.regions[0].notChecked;
  EXPECT_EQ(report.regions[1].fusedNode, "loop/product + add + relu");
  EXPECT_EQ(report.regions[1].tactics.size(), 2U);
  EXPECT_EQ(report.regions[2].fusedNode, "last");
}

TEST(VerifyBodies, AFaultInALoopIsFoundNamedAndWrittenDown) {
  const VerifyReport report = reportOf(planOf(modelOfText(kFiveTimes)), {identityInputs(1)}, "Add");
  ASSERT_TRUE(report.mismatch.has_value());
  EXPECT_EQ(report.mismatch->fusedNode, "loop/product + add + relu");
  EXPECT_EQ(report.mismatch->failure.caseName, "given, iteration 0");
  ASSERT_TRUE(report.mismatch->smallest.has_value());
  EXPECT_EQ(report.mismatch->smallest->nodes, std::vector<std::string>{"loop/add"});
  const TemporaryFolder folder;
  const VerifyOptions options{.backend = "faulty", .threads = 1, .seeds = 0};
  const auto made = writeReproducer(*report.mismatch, options, folder.path());
  ASSERT_TRUE(made.ok()) << made.error().text();
  const auto part = openArtifact(made.value().model, {}, {});
  ASSERT_TRUE(part.ok()) << part.error().text();
  EXPECT_EQ(part.value().plan->graph().nodeCount(), 1U);
  const auto samples = loadSamples(*part.value().plan, {.paths = {made.value().inputs.string()}});
  ASSERT_TRUE(samples.ok()) << samples.error().text();
  EXPECT_FALSE(reportOf(part.value().plan, samples.value().inputs(), "Add").ok());
  EXPECT_TRUE(reportOf(part.value().plan, samples.value().inputs(), {}).ok());
}

// The carried value is 2, 4, 8, 16, 32 behind the iterations 0 to 4, of which 0, 1 and 4 are kept.
TEST(VerifyBodies, AFaultOfALaterIterationIsFound) {
  const VerifyReport report = reportOf(planOf(modelOfText(kFiveTimes)), {identityInputs(1)}, "Add", 20);
  ASSERT_TRUE(report.mismatch.has_value());
  EXPECT_EQ(report.mismatch->failure.caseName, "given, iteration 4");
}

TEST(VerifyBodies, ALoopThatDoesNotRunIsSaid) {
  std::string never = kFiveTimes;
  never.replace(never.find("[5]"), 3, "[0]");
  const VerifyReport report = reportOf(planOf(modelOfText(never)), {identityInputs(1)}, "Add");
  EXPECT_TRUE(report.ok());
  EXPECT_NE(regionOf(report, "loop/product + add + relu").notChecked.find("does not run"), std::string::npos);
}

// A Loop whose body holds an If: of its two branches one is never taken.
constexpr const char* kBranchInLoop = R"(
  input %c: bool[]
  input %x: f32[2, 4]
  const %m: int64[] = [3]
  %y: f32[2, 4] = Loop(%m, _, %x) <body=body (%c, %x) graph "body" {
      input %i: int64[]
      input %on: bool[]
      input %u: f32[2, 4]
      input %c: bool[]
      input %x: f32[2, 4]
      %v: f32[2, 4] = If(%c) <else_branch=body (%u) graph "e" { input %u: f32[2, 4]
          %e: f32[2, 4] = Neg(%u) {name="neg"}
          output %e },
        then_branch=body (%u, %x) graph "t" { input %u: f32[2, 4]
          input %x: f32[2, 4]
          %t: f32[2, 4] = Add(%u, %x) {name="add"}
          %r: f32[2, 4] = Relu(%t) {name="relu"}
          output %r }> {name="in"}
      output %on
      output %v }> {name="loop"}
  output %y
)";

TEST(VerifyBodies, BothBranchesAreVerifiedAtWhateverDepth) {
  const auto plan = planOf(modelOfText(kBranchInLoop));
  for (const bool taken : {true, false}) {
    const Inputs inputs{{"c", condition(taken)}, {"x", noise({2, 4}, 3)}};
    const VerifyReport right = reportOf(plan, {inputs}, {});
    EXPECT_TRUE(right.ok());
    EXPECT_EQ(regionOf(right, "loop/in/neg").tactics.size(), 2U);
    EXPECT_EQ(regionOf(right, "loop/in/add + relu").tactics.size(), 2U);
    const VerifyReport wrong = reportOf(plan, {inputs}, "Relu");
    ASSERT_TRUE(wrong.mismatch.has_value());
    EXPECT_EQ(wrong.mismatch->fusedNode, "loop/in/add + relu");
    EXPECT_EQ(wrong.mismatch->failure.caseName,
              taken ? "given, iteration 0" : "given, iteration 0, as if this branch ran");
    EXPECT_TRUE(regionOf(wrong, "loop/in/neg").ok);
  }
}

// In the branch that is not taken x cannot be what it is taken for there.
TEST(VerifyBodies, ABranchThatCannotWorkIsLeftOut) {
  const auto plan = planOf(modelOfText(R"(
    input %c: bool[]
    input %x: f32[n, 4]
    const %four: int64[2] = [2, 8]
    %y: f32[...] = If(%c) <else_branch=body (%x) graph "e" { input %x: f32[n, 4]
        %e: f32[n, 4] = Neg(%x) {name="neg"}
        output %e },
      then_branch=body (%x, %four) graph "t" { input %x: f32[n, 4]
        input %four: int64[2]
        %s: f32[...] = Reshape(%x, %four) {name="reshape"}
        %t: f32[...] = Exp(%s) {name="exp"}
        output %t }> {name="the_if"}
    output %y)"));
  const Inputs inputs{{"c", condition(false)}, {"x", noise({3, 4}, 3)}};
  const VerifyReport report = reportOf(plan, {inputs}, {});
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(regionOf(report, "the_if/neg").tactics.size(), 2U);
  EXPECT_NE(regionOf(report, "the_if/exp").notChecked.find("is not executed"), std::string::npos)
      << regionOf(report, "the_if/exp").notChecked;
}

// Every iteration is of other extents: 2, 4, 8 rows.
TEST(VerifyBodies, WhatGrowsIsVerifiedAtEachExtent) {
  const auto plan = planOf(modelOfText(R"(
    input %a: f32[1, 2]
    const %m: int64[] = [3]
    %y: f32[k, 2] = Loop(%m, _, %a) <body=body graph "body" {
        input %i: int64[]
        input %on: bool[]
        input %u: f32[j, 2]
        %v: f32[...] = Concat(%u, %u) <axis=0> {name="join"}
        %w: f32[...] = Tanh(%v) {name="tanh"}
        output %on
        output %w }> {name="loop"}
    output %y)"));
  const VerifyReport right = reportOf(plan, {{{"a", floats({1, 2}, {1, 2})}}}, {});
  EXPECT_TRUE(right.ok());
  EXPECT_EQ(regionOf(right, "loop/tanh").tactics.size(), 2U) << "named once for all extents";
  EXPECT_EQ(right.regions.size(), 3U);
  EXPECT_FALSE(reportOf(plan, {{{"a", floats({1, 2}, {1, 2})}}}, "Tanh").ok());
}

TEST(VerifySamples, AFaultThatOneSampleShowsIsFound) {
  const auto plan = planOf(smallNetwork());
  const std::vector<Inputs> samples{{{"x", floats({1, 4}, {0, 0, 0, 0})}}, {{"x", floats({1, 4}, {100, 0, 0, 0})}}};
  EXPECT_TRUE(reportOf(plan, {samples[0]}, {}).ok());
  const VerifyReport report = reportOf(plan, samples, "Add", 50);
  ASSERT_TRUE(report.mismatch.has_value());
  EXPECT_EQ(report.mismatch->failure.caseName, "sample 1");
}

TEST(VerifySamples, MayHaveOtherExtents) {
  const auto plan = planOf(smallNetwork());
  const std::vector<Inputs> samples{{{"x", noise({1, 4}, 1)}}, {{"x", noise({3, 4}, 2)}}, {{"x", noise({1, 4}, 3)}}};
  const VerifyReport right = reportOf(plan, samples, {});
  EXPECT_TRUE(right.ok());
  EXPECT_EQ(right.regions.size(), plan->fusedNodes.size());
  for (const RegionVerdict& region : right.regions) EXPECT_EQ(region.sameAs, "") << region.fusedNode;
}

}  // namespace
}  // namespace fusescope::testing
