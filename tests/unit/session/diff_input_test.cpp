#include "session/diff_input.h"

#include <gtest/gtest.h>

#include "session/open_artifact.h"
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
  ASSERT_EQ(input.errors.size(), 2U);
  EXPECT_DOUBLE_EQ(*input.errors.back().values.at("x").carried, 0.25);
}

// Evaluated on several sets of inputs: each stays, by what it was measured on, the newest last.
TEST(DiffInput, OfASessionIsWhatEachOfItsInputsShowed) {
  Artifact artifact = sampleArtifact();
  const FusedNode& first = artifact.plan->fusedNodes[0];
  Session session;
  session.model = identify(artifact.path).value();
  session.options = {.target = "cpu:avx2"};
  fusescope::Run run{.model = session.model.identity(), .options = session.options};
  const auto on = [](std::vector<std::string> paths, const std::string& when) {
    RunErrors errors{.when = when, .inputs = {.paths = std::move(paths)}, .samples = 2, .against = "f32"};
    errors.backend = "native";
    return errors;
  };
  RunErrors two = on({"a.npz", "b.npz"}, "2026-01-02"), one = on({"a.npz"}, "2026-01-01");
  two.nodes = {{.name = first.name, .identity = first.identity.hex(), .types = layerTypes(*artifact.plan, first)}};
  two.nodes[0].errors = {TensorError{.maxOverRms = 0.5}, TensorError{.maxOverRms = 0.75}};
  RunErrors ofOther = on({"c.npz"}, "2026-01-03");
  ofOther.nodes = {{.name = first.name, .identity = first.identity.hex(), .types = LayerTypes()}};
  run.errors = {two, one, ofOther};
  session.runs = {run};
  artifact.session = std::make_shared<const Session>(session);
  const DiffInput input = diffInput(artifact);
  ASSERT_EQ(input.errors.size(), 2U) << "what was measured of a kernel of other types is not of this plan";
  EXPECT_EQ(input.errors[0].on, "a.npz, 2 samples, against f32 on native");
  EXPECT_EQ(input.errors[1].on, "a.npz and 1 other, 2 samples, against f32 on native");
  EXPECT_NE(input.errors[0].how, input.errors[1].how);
  EXPECT_DOUBLE_EQ(*input.errors[1].fusedNodes.at(first.identity).local, 0.5);
  EXPECT_DOUBLE_EQ(*input.errors[1].fusedNodes.at(first.identity).carried, 0.75);
}

// An error of 0 would say that the value is exact.
TEST(DiffInput, WhatCannotBeToldIsNoError) {
  Artifact artifact = sampleArtifact();
  const FusedNode& first = artifact.plan->fusedNodes[0];
  Session session;
  session.model = identify(artifact.path).value();
  session.options = {.target = "cpu:avx2"};
  fusescope::Run run{.model = session.model.identity(), .options = session.options};
  Evaluation evaluation;
  evaluation.values = {{.name = "x", .ok = true, .problem = "neither side contains a finite number"},
                       {.name = "y", .problem = "is missing"},
                       {.name = "z", .ok = true}};
  run.evaluations = {evaluation};
  RunErrors errors{.when = "2026-01-01", .samples = 1, .against = "f32"};
  errors.nodes = {{.name = first.name, .identity = first.identity.hex(), .types = layerTypes(*artifact.plan, first)}};
  errors.nodes[0].errors = {TensorError{.elements = 4, .expectedNonFinite = 1}, TensorError{.elements = 4}};
  run.errors = {errors};
  session.runs = {run};
  artifact.session = std::make_shared<const Session>(session);
  const DiffInput input = diffInput(artifact);
  ASSERT_EQ(input.errors.size(), 2U);
  const DiffErrors &evaluated = input.errors[0], &measured = input.errors[1];
  EXPECT_FALSE(evaluated.values.contains("x"));
  EXPECT_FALSE(evaluated.values.contains("y"));
  EXPECT_DOUBLE_EQ(*evaluated.values.at("z").carried, 0);
  EXPECT_FALSE(measured.fusedNodes.at(first.identity).local.has_value());
  EXPECT_DOUBLE_EQ(*measured.fusedNodes.at(first.identity).carried, 0);
}

}  // namespace
}  // namespace fusescope::test
