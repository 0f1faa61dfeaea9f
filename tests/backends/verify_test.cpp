// A fault planted in a kernel is found, named and written down; what is right is not accused.
#include <gtest/gtest.h>

#include "base/files.h"
#include "session/documents/verify_report.h"
#include "session/inputs/load_samples.h"
#include "session/open_artifact.h"
#include "tests/backends/backend_fixture.h"
#include "tests/backends/faulty/faulty_backend.h"

namespace fusescope::testing {
namespace {

/// Two equal products, each with three operators behind it that fuse with it.
std::shared_ptr<const Plan> activations() {
  GraphEditor editor;
  ValueId at = editor.addInput("x", f32({4, 16}));
  const auto add = [&](const std::string& op, const std::string& name, std::vector<ValueId> inputs) {
    const ValueId made = editor.addValue("made_" + name, f32({4, 16}));
    inputs.insert(inputs.begin(), at);
    editor.addNode({.op = op, .name = name, .inputs = std::move(inputs), .outputs = {made}});
    at = made;
  };
  for (const char* block : {"first", "second"}) {
    const std::string prefix = block;
    add("MatMul", prefix + "_product", {editor.addConstant("w_" + prefix, noise({16, 16}, prefix.size()))});
    add("Add", prefix + "_bias", {editor.addConstant("b_" + prefix, noise({16}, 7))});
    add("Tanh", prefix + "_tanh", {});
    add("Relu", prefix + "_relu", {});
  }
  editor.addOutput(at);
  return planOf(modelOf(editor), {});
}

VerifyReport reportOf(const std::shared_ptr<const Plan>& plan, const std::string& wrongOperator) {
  setFaultyOperator(wrongOperator);
  auto report = verifyRegions(plan, std::vector{inputsOf(*plan)}, {.backend = "faulty", .threads = 1, .seeds = 1});
  setFaultyOperator({});
  if (!report.ok()) throw std::runtime_error(report.error().text());
  return std::move(report).value();
}

TEST(Verify, WhatIsRightIsNotAccused) {
  const auto plan = activations();
  const VerifyReport report = reportOf(plan, {});
  EXPECT_TRUE(report.ok());
  ASSERT_EQ(report.regions.size(), plan->fusedNodes.size());
  EXPECT_EQ(report.regions[0].tactics.size(), 2U);
  EXPECT_EQ(report.regions[0].maxOverRms, 0);
}

TEST(Verify, EqualRegionsAreVerifiedOnce) {
  const VerifyReport report = reportOf(activations(), "Tanh");
  ASSERT_EQ(report.regions.size(), 2U);
  EXPECT_EQ(report.regions[1].sameAs, report.regions[0].fusedNode);
  EXPECT_TRUE(report.regions[1].tactics.empty());
  EXPECT_FALSE(report.regions[1].ok) << "its code is as wrong";
}

TEST(Verify, AFaultIsFoundAndNamed) {
  const VerifyReport report = reportOf(activations(), "Tanh");
  ASSERT_TRUE(report.mismatch.has_value());
  EXPECT_EQ(report.mismatch->failure.tactic, "faulty:wrong");
  EXPECT_EQ(report.mismatch->failure.caseName, "given");
  EXPECT_TRUE(report.regions[0].tactics[0].ok) << "the right tactic is right";
  ASSERT_TRUE(report.mismatch->smallest.has_value());
  EXPECT_EQ(report.mismatch->smallest->nodes, std::vector<std::string>{"first_tanh"});
}

TEST(Verify, TheReproducerShowsItAgain) {
  const auto plan = activations();
  setFaultyOperator("Tanh");
  const VerifyOptions options{.backend = "faulty", .threads = 1, .seeds = 0};
  const auto report = verifyRegions(plan, std::vector{inputsOf(*plan)}, options);
  ASSERT_TRUE(report.ok() && report.value().mismatch);
  const TemporaryFolder folder;
  const auto made = writeReproducer(*report.value().mismatch, options, folder.path() / "shown");
  ASSERT_TRUE(made.ok()) << made.error().text();
  EXPECT_NE(made.value().command.find("verify"), std::string::npos);
  const auto part = openArtifact(made.value().model, {}, {});
  ASSERT_TRUE(part.ok()) << part.error().text();
  EXPECT_EQ(part.value().plan->graph().nodeCount(), 1U);
  const auto samples = loadSamples(*part.value().plan, {.paths = {made.value().inputs.string()}});
  ASSERT_TRUE(samples.ok()) << samples.error().text();
  const auto again = verifyRegions(part.value().plan, samples.value().inputs(), options);
  setFaultyOperator({});
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_FALSE(again.value().ok());
  const Json json = toJson(again.value(), samples.value(), options, nullptr);
  EXPECT_EQ(json["ok"], false);
  EXPECT_EQ(json["mismatch"]["nodes"], Json::array({"first_tanh"}));
}

/// How many rows the product has depends on what stands in x.
std::shared_ptr<const Plan> productOfChosenRows() {
  GraphEditor editor;
  const ValueId x = editor.addInput("x", f32({16, 16}));
  const TensorType chosen{.dtype = DataType::F32}, places{.dtype = DataType::I64};
  ValueId at = x;
  const auto add = [&](const std::string& op, std::vector<ValueId> inputs, const TensorType& type) {
    at = editor.addValue("made_" + op, type);
    editor.addNode({.op = op, .name = op, .inputs = std::move(inputs), .outputs = {at}});
  };
  add("NonZero", {x}, places);
  add("Flatten", {at}, places);
  add("Gather", {x, at}, chosen);
  add("MatMul", {at, editor.addConstant("w", noise({16, 16}, 3))}, chosen);
  add("Tanh", {at}, chosen);
  add("Relu", {at}, chosen);
  editor.addOutput(at);
  return planOf(modelOf(editor), {});
}

TEST(Verify, ARegionThatIsPreparedWhileItRunsIsVerifiedAtTheExtentsOfTheRun) {
  const auto plan = productOfChosenRows();
  const VerifyReport right = reportOf(plan, {});
  EXPECT_TRUE(right.ok());
  const auto product = std::ranges::find(right.regions, "MatMul + Tanh + Relu", &RegionVerdict::fusedNode);
  ASSERT_NE(product, right.regions.end());
  EXPECT_EQ(product->tactics.size(), 2U) << product->notChecked;
  const VerifyReport wrong = reportOf(plan, "Tanh");
  ASSERT_TRUE(wrong.mismatch.has_value());
  EXPECT_EQ(wrong.mismatch->fusedNode, product->fusedNode);
  ASSERT_TRUE(wrong.mismatch->smallest.has_value());
  EXPECT_EQ(wrong.mismatch->smallest->nodes, std::vector<std::string>{"Tanh"});
}

/// A product whose sums the author casts to `type` and back before they are scaled.
std::shared_ptr<const Plan> castProduct(DataType type) {
  GraphEditor editor;
  const auto add = [&](const std::string& op, std::vector<ValueId> inputs, DataType made,
                       std::map<std::string, Attribute> attributes = {}) {
    const std::string name = op + "_" + std::string(fusescope::name(made));
    const ValueId value = editor.addValue("made_" + name, {made, Shape::of(Dims{4, 16})});
    editor.addNode(
        {.op = op, .name = name, .inputs = std::move(inputs), .outputs = {value}, .attributes = std::move(attributes)});
    return value;
  };
  const std::int64_t to = type == DataType::F16 ? 10 : 16;
  const ValueId x = editor.addInput("x", f32({4, 16})), w = editor.addConstant("w", noise({16, 16}, 3));
  const ValueId narrow = add("Cast", {add("MatMul", {x, w}, DataType::F32)}, type, {{"to", to}});
  const ValueId wide = add("Cast", {narrow}, DataType::F32, {{"to", std::int64_t{1}}});
  editor.addOutput(add("Mul", {wide, editor.addConstant("half", Tensor::scalar(0.5f))}, DataType::F32));
  return planOf(modelOf(editor), {});
}

TEST(Verify, AKernelThatLeavesTheAuthorsRoundingOutIsFound) {
  for (const DataType type : {DataType::F16, DataType::BF16}) {
    const auto plan = castProduct(type);
    ASSERT_EQ(plan->fusedNodes.size(), 1U);
    EXPECT_TRUE(reportOf(plan, {}).ok());
    setUnrounded(true);
    const VerifyReport report = reportOf(plan, {});
    setUnrounded(false);
    EXPECT_FALSE(report.ok()) << name(type);
    ASSERT_FALSE(report.regions.empty());
    EXPECT_TRUE(report.regions[0].tactics[0].ok) << "the right tactic is right";
    EXPECT_FALSE(report.regions[0].tactics[1].ok) << name(type);
  }
}

}  // namespace
}  // namespace fusescope::testing
