// The plans of runs are made once for all that show them.
#include "session/runs/run_plans.h"
#include "session/open_model.h"

#include <gtest/gtest.h>

#include <thread>

#include "engine/engine_file.h"
#include "tests/unit/frontends/onnx_files.h"

namespace fusescope::test {
namespace {

using MadeRun = fusescope::Run;  // GoogleTest has a Run of its own

constexpr const char* kRunNetwork =
    "g (float[2, 4] x, float[4, 4] w) => (float[2, 4] y) { [first] a = MatMul (x, w) [second] b = MatMul (a, w) "
    "[last] y = Sigmoid (b) }";

class RunPlansTest : public ::testing::Test {
 protected:
  RunPlansTest() {
    auto model = openModel(m_path);
    EXPECT_TRUE(model.ok()) << model.error().text();
    m_network.model = model.value();
    auto file = identify(m_network.model->files);
    EXPECT_TRUE(file.ok()) << file.error().text();
    m_network.file = file.value();
  }
  MadeRun runOf(const std::string& id, std::vector<DataType> precisions = {}) const {
    MadeRun run{.id = id, .model = m_network.file.identity(), .options = {.precisions = std::move(precisions)}};
    return run;
  }
  std::shared_ptr<const Artifact> planned(const MadeRun& run) {
    auto artifact = m_plans.find(PlannedRun(run), m_network);
    EXPECT_TRUE(artifact.ok()) << artifact.error().text();
    return artifact.ok() ? artifact.value() : nullptr;
  }

  const TemporaryFolder m_folder;
  const std::string m_path = m_folder.write("model.onnx", onnxBytes(kRunNetwork)).string();
  OpenNetwork m_network;
  RunPlans m_plans;
};

TEST_F(RunPlansTest, APlanIsMadeOnceAndIsOfTheOpenNetwork) {
  MadeRun run = runOf("1", {DataType::F16});
  const auto first = planned(run);
  EXPECT_EQ(first->plan->model, m_network.model);
  EXPECT_EQ(first->plan->options, run.options);
  EXPECT_EQ(planned(run), first);
  EXPECT_NE(planned(runOf("2", {DataType::F16})), first);
  run.options = {};
  const auto other = planned(run);
  EXPECT_NE(other, first);
  EXPECT_EQ(other->plan->options, PlanOptions());
  m_plans.forget("1");
  EXPECT_NE(planned(run), other);
}

TEST_F(RunPlansTest, WhoAsksMeanwhileGetsTheSame) {
  const MadeRun run = runOf("1");
  std::vector<std::shared_ptr<const Artifact>> found(4);
  {
    std::vector<std::jthread> threads;
    for (auto& each : found) threads.emplace_back([&] { each = planned(run); });
  }
  for (const auto& each : found) EXPECT_EQ(each, found.front());
}

TEST_F(RunPlansTest, OtherExtentsAreOpenedAgain) {
  MadeRun run = runOf("1");
  run.extents = {{.name = "x", .fixed = Dims{2, 4}}};
  const auto artifact = planned(run);
  EXPECT_NE(artifact->plan->model, m_network.model);
}

// What was built is what ran: prices, and the types that they chose, may be others by now.
TEST_F(RunPlansTest, AnEngineSaysWhatRan) {
  MadeRun run = runOf("1", {DataType::F16});
  const auto plan = planned(run)->plan;
  run.enginePath = (m_folder.path() / "run.fse").string();
  run.build = RunBuild{};
  const Hash128 identity = plan->fusedNodes.front().identity;
  const TacticChoice choice{.fusedNode = plan->fusedNodes.front().name,
                            .identity = identity,
                            .chosen = "one",
                            .candidates = {{.name = "one", .ms = 0.5}}};
  EngineFile engine;
  engine.plan = plan;
  engine.backend = "native";
  engine.tactics = {choice};
  ASSERT_TRUE(writeEngineFile(run.enginePath, engine).ok());
  const auto artifact = planned(run);
  ASSERT_TRUE(artifact->engine.has_value());
  EXPECT_EQ(artifact->engine->backend, "native");
  EXPECT_EQ(artifact->plan->model, m_network.model);  // its nodes are those of the network that is open
  EXPECT_EQ(artifact->plan->hash, plan->hash);
  std::filesystem::remove(run.enginePath);
  m_plans.clear();
  EXPECT_FALSE(planned(run)->engine.has_value());
}

TEST_F(RunPlansTest, WhatHasNoPlanOfThisNetworkIsAnError) {
  MadeRun other = runOf("1");
  other.model = "another";
  const auto ofOther = m_plans.find(PlannedRun(other), m_network);
  ASSERT_FALSE(ofOther.ok());
  EXPECT_NE(ofOther.error().message.find("another network"), std::string::npos);
  MadeRun comparison = runOf("2");
  comparison.kind = RunKind::Comparison;
  EXPECT_FALSE(m_plans.find(PlannedRun(comparison), m_network).ok());
  MadeRun engine = runOf("3");
  engine.kind = RunKind::Engine;
  engine.enginePath = (m_folder.path() / "gone.fse").string();
  EXPECT_FALSE(m_plans.find(PlannedRun(engine), m_network).ok());
  std::stop_source stopped;
  stopped.request_stop();
  const auto cancelled = m_plans.find(PlannedRun(runOf("4")), m_network, stopped.get_token());
  ASSERT_FALSE(cancelled.ok());
  EXPECT_TRUE(cancelled.error().cancelled);
  EXPECT_NE(planned(runOf("4")), nullptr);  // an error is not kept
}

}  // namespace
}  // namespace fusescope::test
