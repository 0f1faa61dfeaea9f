#include "tuning/plan_evaluator.h"
#include "session/inputs/load_samples.h"
#include "session/open_artifact.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "interchange/npz.h"
#include "ir/graph.h"
#include "planning/types/pin_answers.h"
#include "session/artifact.h"
#include "session/calibrate.h"
#include "session/inputs/random_inputs.h"
#include "session/open_model.h"
#include "tests/support/paths.h"
#include "tuning/activation_store.h"

namespace fusescope::test {
namespace {

std::filesystem::path spoiled(const std::string& name) {
  return std::filesystem::path(FUSESCOPE_SOURCE_DIR) / "tests/unit/tuning/spoiled" / name;
}

std::shared_ptr<const Plan> plannedIn(const std::string& name, DataType type) {
  auto artifact = openArtifact(spoiled(name + ".onnx"), {}, {.target = "cpu", .precisions = {type}});
  EXPECT_TRUE(artifact.ok()) << artifact.error().text();
  return artifact.value().plan;
}

std::unique_ptr<PlanEvaluator> evaluatorOf(const std::string& name, EvaluatorOptions options,
                                           DataType type = DataType::F16) {
  const auto plan = plannedIn(name, type);
  std::vector<PlanRunner::Inputs> samples{{{"x", randomInputs(*plan).at("x")}}};
  samples.push_back({{"x", randomInputs(*plan).at("x")}});
  auto evaluator = PlanEvaluator::create(plan, std::move(samples), nullptr, options);
  EXPECT_TRUE(evaluator.ok()) << evaluator.error().text();
  return std::move(evaluator).value();
}

PinSet everything(const PlanEvaluator& evaluator) {
  PinSet pins;
  for (std::uint32_t i = 0; i < evaluator.nodeCount(); ++i) pins.insert(i);
  return pins;
}

PinSet named(const PlanEvaluator& evaluator, const std::vector<std::string>& names) {
  PinSet pins;
  for (std::uint32_t i = 0; i < evaluator.nodeCount(); ++i)
    if (std::ranges::find(names, evaluator.pinnable().nodes[i].pattern) != names.end()) pins.insert(i);
  EXPECT_EQ(pins.size(), names.size());
  return pins;
}

TEST(PlanEvaluator, EverythingPinnedIsTheNetworkInFloat32) {
  for (const char* backend : {"reference", "native"}) {
    const auto evaluator = evaluatorOf("scaled_pair", {.backend = backend});
    EXPECT_EQ(evaluator->error({}).value(), INFINITY) << "what passes 65504 is infinite, and an error without end";
    EXPECT_EQ(evaluator->error(everything(*evaluator)).value(), 0);
  }
}

TEST(PlanEvaluator, RunsOnlyWhatAPinReaches) {
  const auto evaluator = evaluatorOf("scaled_pair", {.backend = "reference"});
  const auto kernels = static_cast<std::int64_t>(evaluator->lowered().fusedNodes.size());
  EXPECT_EQ(evaluator->runner().ran(), kernels) << "in float32";
  ASSERT_TRUE(evaluator->error({}).ok());
  EXPECT_EQ(evaluator->runner().ran(), 2 * kernels);
  ASSERT_TRUE(evaluator->error(named(*evaluator, {"after01.norm"})).ok());
  EXPECT_EQ(evaluator->runner().ran(), 2 * kernels + 1) << "the last norm alone";
  PinSet butLast = everything(*evaluator);
  butLast.erase(*named(*evaluator, {"after01.norm"}).begin());
  ASSERT_TRUE(evaluator->error(butLast).ok());
  EXPECT_LE(evaluator->runner().ran(), 2 * kernels + 3) << "all before it is as in float32";
}

TEST(PlanEvaluator, MemoryBearsOnTimeAlone) {
  const auto large = evaluatorOf("large_logits", {.backend = "reference"});
  const auto none = evaluatorOf("large_logits", {.backend = "reference", .keptBytes = 0});
  const auto little = evaluatorOf("large_logits", {.backend = "reference", .keptBytes = 4000});
  for (const PinSet& pins : {PinSet{}, PinSet{2}, PinSet{3, 5}, PinSet{2}, PinSet{1, 2, 9}}) {
    for (PlanEvaluator* evaluator : {large.get(), none.get(), little.get()}) evaluator->expectSetsNear(pins);
    const double error = large->error(pins).value();
    EXPECT_EQ(none->error(pins).value(), error);
    EXPECT_EQ(little->error(pins).value(), error);
  }
  EXPECT_GT(none->runner().ran(), large->runner().ran());
  EXPECT_LE(little->runner().store().bytes(), 4000U);
}

TEST(PlanEvaluator, AnErrorIsThatOfThePlanAsItIsMade) {
  // What `errors` says of the output under the same directives.
  const auto evaluator = evaluatorOf("large_logits", {.backend = "reference"});
  const PinSet pins = named(*evaluator, {"spoiled.query", "spoiled.scores"});
  const auto plan = makePlan(evaluator->lowered().model, evaluator->optionsWith(pins));
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(effectOf(*plan.value()), evaluator->plan(pins).value().effect);
  EXPECT_NE(effectOf(*plan.value()), evaluator->plan({}).value().effect);
}

TEST(PlanEvaluator, OutputsThatThereAreNotAreRefused) {
  const auto plan = plannedIn("large_sum", DataType::F16);
  const std::vector<PlanRunner::Inputs> samples{{{"x", randomInputs(*plan).at("x")}}};
  const auto refused = PlanEvaluator::create(plan, samples, nullptr, {.backend = "reference", .output = "z"});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().text().find("\"z\""), std::string::npos);
  EXPECT_NE(refused.error().text().find("y"), std::string::npos);
}

TEST(PlanEvaluator, WhatTheNetworkQuantisesIsNotPinnable) {
  FUSESCOPE_REQUIRE_SHARED();
  auto artifact =
      openArtifact(*sharedFolder() / "cases/qdq.onnx", {}, {.target = "cpu", .precisions = {DataType::F16}});
  ASSERT_TRUE(artifact.ok());
  const Plan& plan = *artifact.value().plan;
  auto exact = makePlan(plan.model, {.target = "cpu"});
  const Pinnable pinnable = pinnableNodes(plan, *exact.value()).value();
  for (const PinnableNode& node : pinnable.nodes) {
    const auto id = plan.graph().findNode(node.pattern);
    ASSERT_TRUE(id.has_value());
    EXPECT_NE(plan.calculates[id->index], DataType::I8) << node.pattern;
  }
}

/// The digits network in int8, on the first of its samples.
class TunedDigits : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path folder = sampleFolder("digits");
    m_model = openModel(folder / "model.onnx", {{.name = "image", .fixed = Dims{1, 1, 8, 8}}}).value();
    const auto floats = makePlan(m_model, {.target = "cpu"}).value();
    const auto samples = loadSamples(*floats, {.paths = {(folder / "io.npz").string()}, .batchAxis = 0}).value();
    PlanOptions options{.target = "cpu", .precisions = {DataType::I8}};
    options.ranges = std::make_shared<const Ranges>(calibrate(*floats, samples, {}).value());
    m_plan = makePlan(m_model, options).value();
    m_inputs = samples.inputs();
    m_inputs.resize(2);
  }
  std::unique_ptr<PlanEvaluator> evaluator(EvaluatorOptions options) const {
    return PlanEvaluator::create(m_plan, m_inputs, nullptr, options).value();
  }

  std::shared_ptr<const Model> m_model;
  std::shared_ptr<const Plan> m_plan;
  std::vector<PlanRunner::Inputs> m_inputs;
};

TEST_F(TunedDigits, WhatRangesQuantiseIsPinnable) {
  const auto integers = evaluator({.backend = "native"});
  std::int64_t products = 0;
  for (const PinnableNode& node : integers->pinnable().nodes) {
    EXPECT_EQ(node.exact, DataType::F32);
    const Node& of = m_plan->graph().node(*m_plan->graph().findNode(node.pattern));
    if (of.is("Conv") || of.is("Gemm") || of.is("MatMul")) ++products;
  }
  EXPECT_EQ(products, 7) << "6 convolutions and the head";
  EXPECT_GT(integers->error({}).value(), 0);
  EXPECT_EQ(integers->error(everything(*integers)).value(), 0) << "as in float32: no codes are left";
}

TEST_F(TunedDigits, EachSetOfPinsIsANetworkOfItsOwn) {
  // Ids and constants of codes differ from plan to plan: what is kept of one must not be taken for another's.
  const auto kept = evaluator({.backend = "reference"});
  const auto none = evaluator({.backend = "reference", .keptBytes = 0});
  std::vector<PinSet> sets{{}, everything(*kept)};
  for (std::uint32_t i = 0; i < kept->nodeCount(); ++i) {
    sets.push_back({i});
    sets.push_back(everything(*kept));
    sets.back().erase(i);
  }
  std::set<double> errors;
  for (const PinSet& pins : sets) {
    const double error = kept->error(pins).value();
    EXPECT_EQ(none->error(pins).value(), error);
    errors.insert(error);
  }
  EXPECT_GT(errors.size(), kept->nodeCount());
  EXPECT_LT(kept->runner().ran(), none->runner().ran()) << "and yet something is taken over";
}

TEST_F(TunedDigits, APinnedProductIsPlannedWithoutCodes) {
  const auto integers = evaluator({.backend = "native"});
  const auto plan = makePlan(m_model, integers->optionsWith({0})).value();
  EXPECT_EQ(effectOf(*plan), integers->plan({0}).value().effect) << "what tune evaluates is what is planned";
  const std::string& pinned = integers->pinnable().nodes[0].pattern;
  EXPECT_EQ(plan->calculates[plan->graph().findNode(pinned)->index], DataType::F32);
  const Decision* answer = nullptr;
  for (const Decision& decision : plan->decisions)
    if (decision.code == "precision.pin_in_floats") answer = &decision;
  ASSERT_NE(answer, nullptr) << "the pin costs codes";
  EXPECT_EQ(answer->subjects, std::vector{Subject::node(pinned)});
  EXPECT_NE(answer->arguments["nodes"].text()->find(pinned), std::string::npos);
  const auto place = static_cast<std::uint32_t>(answer - plan->decisions.data());
  ASSERT_NE(answerAt(*plan, place), nullptr);
  EXPECT_EQ(pinAnswerOf(answerAt(*plan, place)->outcome), PinAnswer::Price);
  for (const Decision& decision : plan->decisions) EXPECT_NE(decision.code, "precision.pin_free");
}

TEST(ActivationStore, KeepsThePreferredThenTheLatest) {
  ActivationStore store(1000);
  const auto values = [](std::int64_t count) {
    return std::make_shared<const std::vector<Tensor>>(1, Tensor::zeros(DataType::F32, {count}));
  };
  const auto key = [](int i) { return KeyBuilder().number(i).hash(); };
  store.keep(key(1), values(50));
  store.keep(key(2), values(50));
  store.prefer(0, {key(1)});
  for (int i = 3; i < 8; ++i) store.keep(key(i), values(50));
  EXPECT_LE(store.bytes(), 1000U);
  EXPECT_NE(store.find(key(1)), nullptr) << "a preferred run";
  EXPECT_EQ(store.find(key(2)), nullptr);
  EXPECT_NE(store.find(key(7)), nullptr);
  store.prefer(0, {});
  for (int i = 8; i < 14; ++i) store.keep(key(i), values(50));
  EXPECT_EQ(store.find(key(1)), nullptr) << "no longer preferred";
  store.keep(key(20), values(1000));
  EXPECT_EQ(store.find(key(20)), nullptr) << "larger than all that may be kept";
}

}  // namespace
}  // namespace fusescope::test
