// Plans of networks that options put codes into, and networks that differ in elements of constants alone.
#include <gtest/gtest.h>

#include <algorithm>

#include "diff/diff_plans.h"
#include "session/artifact.h"
#include "session/calibrate.h"
#include "session/inputs/load_samples.h"
#include "session/open_model.h"
#include "tests/support/paths.h"
#include "tests/unit/diff/rebuilt_networks.h"

namespace fusescope::test {
namespace {

const std::string kInt8 = "--precision f32 → int8", kToFloats = "--precision int8 → f32";

std::shared_ptr<const Model> digitsFile() {
  auto model = openModel(sampleFolder("digits") / "model.onnx");
  EXPECT_TRUE(model.ok()) << model.error().text();
  return model.ok() ? model.value() : nullptr;
}

std::shared_ptr<const Plan> plannedWith(const std::shared_ptr<const Model>& model, const PlanOptions& options) {
  auto plan = makePlan(model, options);
  EXPECT_TRUE(plan.ok()) << plan.error().text();
  return plan.ok() ? plan.value() : nullptr;
}

std::shared_ptr<const Ranges> digitsRanges() {
  const auto plan = plannedWith(digitsFile(), {.target = "cpu"});
  const auto samples = loadSamples(*plan, {.paths = {sampleInputs("digits")}, .batchAxis = 0});
  EXPECT_TRUE(samples.ok()) << samples.error().text();
  auto ranges = calibrate(*plan, samples.value(), {});
  EXPECT_TRUE(ranges.ok()) << ranges.error().text();
  return std::make_shared<const Ranges>(std::move(ranges).value());
}

PlanOptions inInt8() {
  PlanOptions options{.target = "cpu", .precisions = {DataType::I8}};
  options.ranges = digitsRanges();
  return options;
}

PlanDiff between(const Plan& a, const Plan& b) {
  auto diff = diffPlans({.cover = &a, .label = "a"}, {.cover = &b, .label = "b"});
  EXPECT_TRUE(diff.ok()) << diff.error().text();
  return diff.ok() ? std::move(diff).value() : PlanDiff();
}

std::vector<Causes> allCauses(const PlanDiff& diff) {
  std::vector<Causes> all;
  for (const SegmentChange& change : diff.segments) all.push_back(change.because);
  for (const FusionChange& change : diff.fusions) all.push_back(change.because);
  for (const TypeChange& change : diff.types) all.push_back(change.because);
  for (const CastChange& change : diff.casts) all.push_back(change.because);
  for (const DecisionChange& change : diff.decisions) all.push_back(change.because);
  return all;
}

bool has(const Causes& causes, const std::string& start) {
  return std::ranges::any_of(causes, [&](const std::string& cause) { return cause.starts_with(start); });
}

/// Of the first fusion of a node that changed.
Causes causesOf(const PlanDiff& diff, const std::string& node) {
  const auto found = std::ranges::find_if(diff.fusions, [&](const FusionChange& change) {
    return std::ranges::find(change.nodes, node) != change.nodes.end();
  });
  EXPECT_NE(found, diff.fusions.end()) << node;
  return found == diff.fusions.end() ? Causes() : found->because;
}

bool blamesNetworks(const PlanDiff& diff) {
  return std::ranges::any_of(diff.differences,
                             [](const Difference& each) { return each.kind == DifferenceKind::Network; }) ||
         std::ranges::any_of(allCauses(diff), [](const Causes& causes) { return has(causes, "the network"); });
}

// Neither precision nor ranges can be alone: both together are the cause, whichever side has them.
TEST(CodedDiff, PrecisionAndRangesCauseEverythingTogether) {
  const auto floats = plannedWith(digitsFile(), {.target = "cpu"}), codes = plannedWith(digitsFile(), inInt8());
  for (const bool turned : {false, true}) {
    const PlanDiff diff = turned ? between(*codes, *floats) : between(*floats, *codes);
    EXPECT_TRUE(diff.oneNetwork);
    EXPECT_FALSE(blamesNetworks(diff)) << printDiff(diff);
    EXPECT_GT(diff.types.size(), 6U);
    for (const Causes& causes : allCauses(diff)) {
      ASSERT_EQ(causes.size(), 2U) << printDiff(diff);
      EXPECT_EQ(causes[0], turned ? kToFloats : kInt8);
      EXPECT_NE(causes[1].find("--ranges"), std::string::npos);
    }
  }
}

TEST(CodedDiff, NodesOfTheFileAreTheSameWhereverCodesStand) {
  const auto floats = plannedWith(digitsFile(), {.target = "cpu"}), codes = plannedWith(digitsFile(), inInt8());
  const PlanDiff diff = between(*floats, *codes);
  EXPECT_TRUE(diff.onlyA.empty()) << diff.onlyA.front();
  for (const std::string& name : diff.onlyB)
    EXPECT_NE(name.find("quantize"), std::string::npos) << name << " is in the file";
  EXPECT_FALSE(diff.same());
}

TEST(CodedDiff, WeightsAloneAreOneOption) {
  PlanOptions options{.target = "cpu"};
  options.weightOnly.type = DataType::I8;
  const auto a = plannedWith(digitsFile(), {.target = "cpu"}), b = plannedWith(digitsFile(), options);
  const PlanDiff diff = between(*a, *b);
  EXPECT_FALSE(blamesNetworks(diff)) << printDiff(diff);
  EXPECT_GT(allCauses(diff).size(), 2U);
  for (const Causes& causes : allCauses(diff))
    EXPECT_EQ(causes, Causes{"--weight-only int8 (only in B)"}) << printDiff(diff);
}

TEST(CodedDiff, OfCodesAndADirectiveEachChangeHasItsOwnCause) {
  PlanOptions options = inInt8();
  options.directives = {splitDirective("late.add")};
  const auto floats = plannedWith(digitsFile(), {.target = "cpu"}), codes = plannedWith(digitsFile(), options);
  for (const bool turned : {false, true}) {
    const PlanDiff diff = turned ? between(*codes, *floats) : between(*floats, *codes);
    EXPECT_FALSE(blamesNetworks(diff)) << printDiff(diff, 0);
    for (const Causes& causes : allCauses(diff)) EXPECT_FALSE(causes.empty()) << printDiff(diff, 0);
    for (const TypeChange& change : diff.types) {
      EXPECT_TRUE(has(change.because, turned ? kToFloats : kInt8)) << change.name;
      EXPECT_FALSE(has(change.because, "--split")) << change.name;
    }
    EXPECT_TRUE(has(causesOf(diff, "late.add"), "--split late.add")) << printDiff(diff, 0);
    EXPECT_FALSE(has(causesOf(diff, "stem"), "--split")) << printDiff(diff, 0);
  }
}

TEST(CodedDiff, APinOutOfCodesIsTheCauseOfWhatItTakesOut) {
  const PlanOptions all = inInt8();
  PlanOptions some = all;
  some.directives = {parsePin("late.conv1=f32").value(), splitDirective("mean")};
  const auto a = plannedWith(digitsFile(), all), b = plannedWith(digitsFile(), some);
  const PlanDiff diff = between(*a, *b);
  EXPECT_FALSE(blamesNetworks(diff)) << printDiff(diff, 0);
  ASSERT_FALSE(diff.types.empty());
  for (const TypeChange& change : diff.types)
    EXPECT_EQ(change.because, Causes{"--pin late.conv1=f32 (only in B)"}) << change.name;
  for (const Causes& causes : allCauses(diff)) EXPECT_FALSE(causes.empty()) << printDiff(diff, 0);
}

TEST(CodedDiff, ANodeMoreIsToldFromCodes) {
  const auto model = digitsFile();
  const auto a = plannedWith(model, {.target = "cpu"});
  const auto b = plannedWith(withNode(*model, "widen.relu_out", "Sigmoid", "gate"), inInt8());
  const PlanDiff diff = between(*a, *b);
  EXPECT_FALSE(diff.oneNetwork);
  const Causes gate = causesOf(diff, "gate"), stem = causesOf(diff, "stem");
  EXPECT_TRUE(has(gate, "the networks: gate only in B")) << printDiff(diff, 0);
  EXPECT_TRUE(has(stem, kInt8)) << printDiff(diff, 0);
  EXPECT_FALSE(has(stem, "the network")) << printDiff(diff, 0);
}

/// Adds a constant, the last element of which is `last`, and multiplies.
std::shared_ptr<const Model> sumOfIntegers(std::int64_t last) {
  constexpr std::int64_t kElements = 600;  // more than the hash of a network takes in
  GraphEditor editor;
  const TensorType type{DataType::I64, Shape::of(Dims{kElements})};
  Tensor elements = Tensor::zeros(DataType::I64, {kElements});
  elements.mutableData<std::int64_t>()[kElements - 1] = last;
  const ValueId x = editor.addInput("x", type), c = editor.addConstant("c", std::move(elements));
  const ValueId sum = editor.addValue("y", type), product = editor.addValue("z", type);
  Model model;
  model.origins = {{"add", "Add", ""}, {"mul", "Mul", ""}};
  editor.addNode({.op = "Add", .name = "add", .inputs = {x, c}, .outputs = {sum}, .origins = {OriginId(0)}});
  editor.addNode({.op = "Mul", .name = "mul", .inputs = {sum, sum}, .outputs = {product}, .origins = {OriginId(1)}});
  editor.addOutput(product);
  auto graph = editor.publish();
  EXPECT_TRUE(graph.ok());
  InputSpec spec{.name = "x", .dtype = DataType::I64, .source = "file"};
  spec.min = spec.opt = spec.max = {kElements};
  model.inputSpecs = {spec};
  model.graph = graph.value();
  model.contentHash = hashText("sum of integers");
  return std::make_shared<const Model>(std::move(model));
}

Directives narrowed() {
  return {parseTruncate("long").value()};
}

// It does not survive as int32, so that the plans differ: that is no other version's rules.
TEST(CodedDiff, AnElementOfALargeConstantIsOfTheNetworks) {
  PlanOptions options{.target = "tensorrt-8", .directives = narrowed()};
  const auto a = plannedWith(sumOfIntegers(7), options), b = plannedWith(sumOfIntegers(1LL << 40), options);
  const PlanDiff diff = between(*a, *b);
  ASSERT_EQ(diff.differences.size(), 1U) << printDiff(diff);
  EXPECT_EQ(diff.differences[0].kind, DifferenceKind::Network);
  ASSERT_EQ(diff.constants.size(), 1U);
  EXPECT_EQ(diff.constants[0].a, "c");
  ASSERT_FALSE(allCauses(diff).empty());
  for (const Causes& causes : allCauses(diff)) EXPECT_TRUE(has(causes, "the networks")) << printDiff(diff);
  EXPECT_NE(printDiff(diff).find("~ constant c, int64[600]: 1 of 600 elements differs, max|Δ| "), std::string::npos)
      << printDiff(diff);
}

TEST(CodedDiff, ElementsThatChangeNoPlanAreToldAndCauseNothing) {
  PlanOptions options{.target = "tensorrt-8", .directives = narrowed()}, split = options;
  split.directives.push_back(splitDirective("mul"));
  const auto a = plannedWith(sumOfIntegers(7), options);
  const PlanDiff diff = between(*a, *plannedWith(sumOfIntegers(8), options));
  EXPECT_FALSE(diff.same());
  EXPECT_TRUE(allCauses(diff).empty()) << printDiff(diff);
  ASSERT_EQ(diff.constants.size(), 1U);
  const ConstantChange& constant = diff.constants[0];
  EXPECT_EQ(constant.type, "int64[600]");
  EXPECT_EQ(constant.elements, 600);
  EXPECT_EQ(constant.differing, 1);
  EXPECT_EQ(constant.maxAbs, 1.0);
  ASSERT_EQ(constant.readersOfA.size(), 1U);
  EXPECT_EQ(constant.readersOfA[0].identity, constant.readersOfB.at(0).identity);

  const PlanDiff both = between(*a, *plannedWith(sumOfIntegers(8), split));
  ASSERT_EQ(both.differences.size(), 2U) << printDiff(both);
  ASSERT_FALSE(allCauses(both).empty());
  for (const Causes& causes : allCauses(both)) EXPECT_EQ(causes, Causes{"--split mul (only in B)"}) << printDiff(both);
}

TEST(CodedDiff, WeightsOfOtherSizeAreTheLargestFirst) {
  const auto model = digitsFile();
  std::vector<std::string> weights;
  for (const ValueId value : model->graph->allValues())
    if (model->graph->isConstant(value) && model->graph->value(value).constant->type() == DataType::F32 &&
        model->graph->constantData(value)->count() > 64)
      weights.push_back(model->graph->value(value).name);
  ASSERT_GT(weights.size(), 2U);
  const auto other = scaled(*scaled(*model, weights[0], 1.01F), weights[1], 2.0F);
  const auto a = plannedWith(model, {.target = "cpu"}), b = plannedWith(other, {.target = "cpu"});
  const PlanDiff diff = between(*a, *b);
  ASSERT_EQ(diff.constants.size(), 2U) << printDiff(diff);
  EXPECT_EQ(diff.constants[0].a, weights[1]);
  EXPECT_EQ(diff.constants[1].a, weights[0]);
  EXPECT_EQ(diff.constants[0].differing, diff.constants[0].elements);
  EXPECT_FALSE(diff.constants[0].readersOfA.empty());
  EXPECT_TRUE(between(*a, *a).constants.empty());
}

// What a decision says of a node comes of the weights, and of the option only where it is said with the option alone.
TEST(CodedDiff, WhatIsSaidOfOtherWeightsIsOfTheNetworks) {
  const auto model = digitsFile();
  const auto product =
      std::ranges::find_if(model->graph->order(), [&](NodeId id) { return model->graph->node(id).op == "Conv"; });
  ASSERT_NE(product, model->graph->order().end());
  const Node& conv = model->graph->node(*product);
  PlanOptions options = inInt8(), split = options;
  split.directives = {splitDirective("mean")};
  const auto a = plannedWith(model, options);
  const auto b = plannedWith(scaled(*model, model->graph->value(conv.inputs[1]).name, 3.0F), split);
  const PlanDiff diff = between(*a, *b);
  const auto said = std::ranges::find_if(diff.decisions, [&](const DecisionChange& change) {
    return change.b != nullptr && change.b->code == "quantize.bias_corrected" &&
           change.b->subjects.front().text() == conv.name;
  });
  ASSERT_NE(said, diff.decisions.end()) << printDiff(diff, 0);
  ASSERT_EQ(said->because.size(), 1U) << printDiff(diff, 0);
  EXPECT_TRUE(said->because[0].starts_with("the networks")) << said->because[0];
}

}  // namespace
}  // namespace fusescope::test
