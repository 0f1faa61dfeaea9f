#include "session/diff_input.h"

#include <gtest/gtest.h>

#include "session/session_file.h"
#include "tests/support/paths.h"

namespace fusescope::test {
namespace {

Artifact sampleArtifact() {
  auto artifact = openArtifact(sampleFolder("fp16_overflow") / "model.onnx", {}, {.target = "cpu:avx2"});
  EXPECT_TRUE(artifact.ok()) << artifact.error().text();
  return std::move(artifact).value();
}

TEST(DiffInput, OfAnEngineIsWhatItsKernelsTookWhenItWasBuilt) {
  Artifact artifact = sampleArtifact();
  const FusedNode& first = artifact.plan->fusedNodes[0];
  const FusedNode& second = artifact.plan->fusedNodes[1];
  artifact.engine = EngineFile{.plan = artifact.plan};
  artifact.engine->tactics = {
      {.fusedNode = first.name, .identity = first.identity, .chosen = "b", .candidates = {{"a", 2.0}, {"b", 1.0}}},
      {.fusedNode = second.name, .identity = second.identity, .chosen = "emulated", .candidates = {{"emulated", {}}}}};
  const DiffInput input = diffInput(artifact);
  ASSERT_EQ(input.times.size(), 1U) << "what was not measured has no time";
  EXPECT_DOUBLE_EQ(input.times.at(first.identity).ms, 1.0);
  EXPECT_EQ(input.times.at(first.identity).how, DiffTimeKind::Built);
}

TEST(DiffInput, OfASessionIsItsNewestRunOfThisPlan) {
  Artifact artifact = sampleArtifact();
  const FusedNode& first = artifact.plan->fusedNodes[0];
  Session session;
  session.model = identify(artifact.path).value();
  session.options = {.target = "cpu:avx2"};
  const auto runOf = [&](const PlanOptions& options, double ms, double error) {
    fusescope::Run run{.model = session.model.identity(), .options = options};
    run.time = RunTime{};
    run.time->layers = {{.name = first.name, .identity = first.identity.hex(), .medianMs = ms}};
    Evaluation evaluation;
    evaluation.values = {{.name = "x", .maxOverRms = error}};
    run.evaluations = {evaluation};
    return run;
  };
  session.runs = {runOf(session.options, 3, 0.5), runOf(session.options, 2, 0.25),
                  runOf({.target = "cpu:avx2", .precisions = {DataType::F16}}, 1, 0.75)};
  artifact.session = std::make_shared<const Session>(session);
  const DiffInput input = diffInput(artifact);
  EXPECT_DOUBLE_EQ(input.times.at(first.identity).ms, 2) << "the run of other types is not of this plan";
  EXPECT_EQ(input.times.at(first.identity).how, DiffTimeKind::Run);
  ASSERT_EQ(input.errors.size(), 1U);
  EXPECT_DOUBLE_EQ(input.errors[0].maxOverRms, 0.25);
}

}  // namespace
}  // namespace fusescope::test
