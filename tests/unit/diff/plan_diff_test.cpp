#include "diff/diff_plans.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/files.h"
#include "planning/prices/price_model.h"
#include "session/artifact.h"
#include "session/documents/engine_reports.h"
#include "session/open_model.h"
#include "tests/support/metered/allocations.h"
#include "tests/support/paths.h"
#include "tests/unit/diff/rebuilt_networks.h"
#include "tests/unit/frontends/onnx_files.h"

namespace fusescope::test {
namespace {

std::shared_ptr<const Plan> planned(std::shared_ptr<const Model> model, const PlanOptions& options,
                                    const PriceModel* prices = nullptr) {
  auto plan = makePlan(std::move(model), options, prices);
  EXPECT_TRUE(plan.ok()) << plan.error().text();
  return plan.ok() ? plan.value() : nullptr;
}

Directives pins(const std::vector<std::string>& texts) {
  Directives all;
  for (const std::string& text : texts) all.push_back(parsePin(text).value());
  return all;
}

PlanDiff diffOf(const Plan& a, const Plan& b, const PriceModel* prices = nullptr) {
  auto diff = diffPlans({.cover = &a, .label = "a"}, {.cover = &b, .label = "b"}, prices);
  EXPECT_TRUE(diff.ok()) << diff.error().text();
  return diff.ok() ? std::move(diff).value() : PlanDiff();
}

std::shared_ptr<const Model> sample(const std::string& name) {
  auto model = openModel(sampleFolder(name) / "model.onnx");
  EXPECT_TRUE(model.ok()) << model.error().text();
  return model.ok() ? model.value() : nullptr;
}

std::shared_ptr<const Model> opened(const std::string& graph) {
  const TemporaryFolder folder;
  auto model = openModel(folder.write("model.onnx", onnxBytes(graph)));
  EXPECT_TRUE(model.ok()) << model.error().text();
  return model.ok() ? model.value() : nullptr;
}

/// Two convolutions with a Relu each, one after the other.
std::shared_ptr<const Model> convs() {
  return opened(
      "g (float[1, 1, 6, 6] x) => (float[1, 1, 6, 6] y) <float[1, 1, 3, 3] w = {1, 2, 1, 2, 4, 2, 1, 2, 1}> {"
      "  [conv1] a = Conv <pads = [1, 1, 1, 1]> (x, w) [relu1] b = Relu (a)"
      "  [conv2] c = Conv <pads = [1, 1, 1, 1]> (b, w) [relu2] y = Relu (c) }");
}

TEST(PlanDiff, OfOnePlanIsNothing) {
  const auto model = sample("bert_tiny");
  const auto a = planned(model, {.target = "cpu:avx2", .precisions = {DataType::F16}});
  const auto b = planned(sample("bert_tiny"), {.target = "cpu:avx2", .precisions = {DataType::F16}});
  const PlanDiff diff = diffOf(*a, *b);
  EXPECT_TRUE(diff.same());
  EXPECT_TRUE(diff.oneNetwork);
  EXPECT_EQ(toJson(diff)["same"], true);
  EXPECT_NE(printDiff(diff).find("nothing differs"), std::string::npos);
}

TEST(PlanDiff, OfARenamedNetworkIsItsNamesOnly) {
  const auto model = sample("bert_tiny");
  std::vector<std::string> before;
  const PlanOptions options{.target = "cpu:avx2", .precisions = {DataType::F16}};
  const auto a = planned(model, options), b = planned(renamed(*model, 4, before), options);
  const PlanDiff diff = diffOf(*a, *b);
  EXPECT_EQ(diff.byStructure, std::ssize(model->graph->order()));
  EXPECT_TRUE(diff.fusions.empty()) << printDiff(diff);
  EXPECT_TRUE(diff.types.empty() && diff.casts.empty() && diff.segments.empty()) << printDiff(diff);
  EXPECT_TRUE(diff.decisions.empty()) << printDiff(diff);
  EXPECT_TRUE(diff.same());
}

TEST(PlanDiff, ALayerLessLeavesAllElseAlone) {
  const auto model = sample("bert_tiny");
  std::vector<std::string> norms;
  for (const NodeId id : model->graph->order())
    if (model->graph->node(id).is("LayerNormalization"))
      norms.push_back(model->graph->value(model->graph->node(id).outputs[0]).name);
  const auto a = planned(model, {.target = "cpu:avx2"});
  const auto b = planned(without(*model, norms[0], norms[2]), {.target = "cpu:avx2"});
  const PlanDiff diff = diffOf(*a, *b);
  EXPECT_FALSE(diff.onlyA.empty());
  EXPECT_TRUE(diff.onlyB.empty());
  EXPECT_TRUE(diff.types.empty() && diff.casts.empty() && diff.segments.empty()) << printDiff(diff);
  for (const FusionChange& change : diff.fusions) {
    EXPECT_TRUE(change.b.empty()) << "fusions of the layer that is gone, and of nothing else";
    ASSERT_EQ(change.because.size(), 1U);
    EXPECT_NE(change.because[0].find("only in A"), std::string::npos) << change.because[0];
  }
}

TEST(PlanDiff, EachChangeNamesTheDirectiveThatCausedIt) {
  const auto model = convs();
  PlanOptions a{.target = "tensorrt-10"}, b = a;
  b.directives = pins({"relu1=f16:obey"});
  b.directives.push_back(splitDirective("conv2"));
  const PlanDiff diff = diffOf(*planned(model, a), *planned(model, b));
  EXPECT_EQ(diff.differences.size(), 2U);
  ASSERT_EQ(diff.fusions.size(), 2U);
  EXPECT_EQ(diff.fusions[0].change, GroupChange::Broken);
  EXPECT_EQ(diff.fusions[0].because, Causes{"--pin relu1=f16:obey (only in B)"});
  EXPECT_EQ(diff.fusions[1].because, Causes{"--split conv2 (only in B)"});
  ASSERT_FALSE(diff.types.empty());
  for (const TypeChange& change : diff.types)
    EXPECT_EQ(change.because, Causes{"--pin relu1=f16:obey (only in B)"}) << change.name;
  for (const CastChange& change : diff.casts) EXPECT_EQ(change.because.size(), 1U) << change.value;
}

TEST(PlanDiff, OfManyDirectivesThoseCountThatDecisionsName) {
  const auto model = chainOfBlocks(widthsInTurn(20, 2));
  PlanOptions a{.target = "cpu:avx2"}, b = a;
  std::vector<std::string> texts;
  for (int i = 0; i < 20; ++i) texts.push_back("wide" + std::to_string(i) + "=f16");
  b.directives = pins(texts);
  const PlanDiff diff = diffOf(*planned(model, a), *planned(model, b));
  ASSERT_EQ(diff.differences.size(), 20U);
  int nodes = 0;
  for (const TypeChange& change : diff.types) {
    if (change.thing != TypedThing::Node) continue;
    ++nodes;
    EXPECT_EQ(change.because, Causes{"--pin " + change.name + "=f16 (only in B)"});
  }
  EXPECT_EQ(nodes, 20);
  for (const CastChange& change : diff.casts) EXPECT_FALSE(change.because.empty()) << change.value;
}

/// More differences than are tried one by one: what belongs together is tried together.
TEST(PlanDiff, OfManyDifferencesAPrecisionIsStillNamed) {
  const auto model = chainOfBlocks(widthsInTurn(24, 2));
  PlanOptions a{.target = "cpu:avx2"}, b = a;
  b.precisions = {DataType::F16};
  std::vector<std::string> texts;
  for (int i = 0; i < 19; ++i) texts.push_back("wide" + std::to_string(i) + "=f32");
  b.directives = pins(texts);
  const PlanDiff diff = diffOf(*planned(model, a), *planned(model, b));
  ASSERT_GT(diff.differences.size(), 16U);
  int nodes = 0;
  for (const TypeChange& change : diff.types) {
    EXPECT_FALSE(change.because.empty()) << change.name;
    if (change.thing != TypedThing::Node) continue;
    ++nodes;
    EXPECT_EQ(change.because, Causes{"--precision f32 → f16"}) << change.name;
  }
  EXPECT_GT(nodes, 20);
  for (const FusionChange& change : diff.fusions) EXPECT_FALSE(change.because.empty());
  for (const CastChange& change : diff.casts) EXPECT_FALSE(change.because.empty()) << change.value;
}

TEST(PlanDiff, TwoDirectivesThatEachDoItAreBothNamed) {
  const auto model = convs();
  PlanOptions a{.target = "cpu:avx2"}, b = a;
  b.directives = {splitDirective("conv1"), parseNoFuse("conv_epilogue@conv1").value(), splitDirective("relu2")};
  const PlanDiff diff = diffOf(*planned(model, a), *planned(model, b));
  ASSERT_EQ(diff.fusions.size(), 1U) << printDiff(diff);
  EXPECT_EQ(diff.fusions[0].because,
            (Causes{"--split conv1 (only in B)", "--no-fuse conv_epilogue@conv1 (only in B)"}));
}

TEST(PlanDiff, OfTwoNetworksTheOptionsAreToldFromTheNetworks) {
  const auto model = convs();
  const auto other = withNode(*model, "b", "Sigmoid", "gate");
  PlanOptions a{.target = "cpu:avx2"}, b = a;
  b.directives = {splitDirective("conv2")};
  const PlanDiff diff = diffOf(*planned(model, a), *planned(other, b));
  EXPECT_EQ(diff.onlyB, std::vector<std::string>{"gate"});
  ASSERT_EQ(diff.fusions.size(), 2U) << printDiff(diff);
  EXPECT_EQ(diff.fusions[0].because, Causes{"the networks: gate only in B"});
  EXPECT_EQ(diff.fusions[1].because, Causes{"--split conv2 (only in B)"});
}

/// Prices by which half precision pays, or not.
class TablePrices : public PriceModel {
 public:
  explicit TablePrices(double half) : m_half(half) {}
  std::vector<Price> kernels(const Plan& plan) const override {
    std::vector<Price> all;
    for (const FusedNode& fused : plan.fusedNodes)
      all.push_back({fused.compute == DataType::F16 ? m_half : 1.0, PriceSource::Measured, 0, "a table"});
    return all;
  }
  Price conversion(DataType, DataType, std::int64_t) const override {
    return {0.001, PriceSource::Measured, 0, "a table"};
  }

 private:
  double m_half;
};

TEST(PlanDiff, TimesThatChoseOtherTypesAreTheCause) {
  const auto model = convs();
  const PlanOptions options{.target = "cpu:avx2+f16c", .precisions = {DataType::F16, DataType::F32}};
  const TablePrices quick(0.1), slow(3);
  const auto a = planned(model, options, &slow), b = planned(model, options, &quick);
  if (a->casts.size() == b->casts.size()) GTEST_SKIP() << "half precision is emulated for this target";
  const PlanDiff diff = diffOf(*a, *b, &quick);
  ASSERT_EQ(diff.differences.size(), 1U);
  EXPECT_EQ(diff.differences[0].kind, DifferenceKind::Times);
  ASSERT_FALSE(diff.types.empty());
  EXPECT_EQ(diff.types[0].because.size(), 1U);
  ASSERT_FALSE(diff.times.empty());
}

constexpr const char* kBranches =
    "g (bool c, float[1, 1, 6, 6] x) => (float[1, 1, 6, 6] z) <float[1, 1, 3, 3] w = {1, 2, 1, 2, 4, 2, 1, 2, 1}> {"
    "  [the_if] y = If (c) <then_branch = t () => (float[1, 1, 6, 6] t) {"
    "      [conv] k = Conv <pads = [1, 1, 1, 1]> (x, w) [relu] t = Relu (k) },"
    "    else_branch = e () => (float[1, 1, 6, 6] e) { [exp] e = Exp (x) }>"
    "  [last] z = Softmax (y) }";

// Whose bodies one side has no plans of: with one difference taken over, it has.
TEST(PlanDiff, BodiesThatOneSideRunsOperatorByOperator) {
  const auto model = opened(kBranches);
  const auto inFallback = planned(model, {.target = "cpu:avx2", .directives = {fallbackDirective("the_if")}});
  const auto lowered = planned(model, {.target = "cpu:avx2", .precisions = {DataType::F16}});
  for (const bool turned : {false, true}) {
    const PlanDiff diff = diffOf(turned ? *lowered : *inFallback, turned ? *inFallback : *lowered);
    ASSERT_FALSE(diff.segments.empty());
    const std::string cause = turned ? "--fallback the_if (only in B)" : "--fallback the_if (only in A)";
    EXPECT_EQ(diff.segments.front().because, Causes{cause});
  }
}

TEST(PlanDiff, BodiesAreComparedInside) {
  const auto model = opened(kBranches);
  const auto a = planned(model, {.target = "tensorrt-10"});
  const auto b = planned(model, {.target = "tensorrt-10", .directives = pins({"the_if/relu=f16:obey"})});
  const PlanDiff diff = diffOf(*a, *b);
  ASSERT_EQ(diff.fusions.size(), 1U);
  EXPECT_EQ(diff.fusions[0].nodes, (std::vector<std::string>{"the_if/conv", "the_if/relu"}));
  EXPECT_EQ(diff.fusions[0].place.segment, "the_if/then_branch: segment_0 (accelerated, tensorrt)");
  EXPECT_EQ(diff.fusions[0].because, Causes{"--pin the_if/relu=f16:obey (only in B)"});
  const auto answers = std::ranges::count_if(diff.decisions, [](const DecisionChange& change) {
    return change.b != nullptr && change.b->code == "precision.pin_price";
  });
  EXPECT_EQ(answers, 1) << "the answer that came back from the body, and not that in the body again";
}

TEST(PlanDiff, TimesAndErrorsWhereBothHaveThem) {
  const auto model = convs();
  const auto a = planned(model, {.target = "cpu:avx2"});
  const auto b = planned(model, {.target = "cpu:avx2", .directives = {splitDirective("conv1")}});
  DiffInput inputOfA{.cover = a.get(), .label = "a"}, inputOfB{.cover = b.get(), .label = "b"};
  for (const FusedNode& fused : a->fusedNodes) inputOfA.times[fused.identity] = {1, DiffTimeKind::Built};
  for (const FusedNode& fused : b->fusedNodes) inputOfB.times[fused.identity] = {0.75, DiffTimeKind::Run};
  inputOfA.errors = {{.on = "x", .how = "x", .values = {{"b", {0.5, {}}}, {"nowhere", {1, {}}}}}};
  inputOfB.errors = {{.on = "x", .how = "x", .values = {{"b", {0.25, {}}}, {"y", {1, {}}}}}};
  const PlanDiff diff = changesBetween(inputOfA, inputOfB);
  ASSERT_EQ(diff.times.size(), 2U);
  EXPECT_DOUBLE_EQ(diff.times[0].ofA.ms, 1);
  EXPECT_DOUBLE_EQ(diff.times[0].ofB.ms, 1.5);
  EXPECT_EQ(diff.times[0].ofB.how, DiffTimeKind::Run);
  ASSERT_EQ(diff.errors.size(), 1U);
  EXPECT_DOUBLE_EQ(diff.errors[0].b, 0.25);
  EXPECT_FALSE(diff.errors[0].localOfA.has_value());
  EXPECT_TRUE(diff.errorsAlike);
  EXPECT_TRUE(diff.fusions[0].because.empty()) << "causes were not asked for";
}

TEST(PlanDiff, WhatPinsComeToTogetherIsBecauseOfEach) {
  const auto model = convs();
  const auto a = planned(model, {.target = "cpu:avx2", .precisions = {DataType::F16}});
  const auto b = planned(
      model, {.target = "cpu:avx2", .precisions = {DataType::F16}, .directives = pins({"conv1=f32", "conv2=f32"})});
  const PlanDiff diff = diffOf(*a, *b);
  const auto together = std::ranges::find_if(diff.decisions, [](const DecisionChange& change) {
    return change.b != nullptr && change.b->code == "precision.pins_together";
  });
  ASSERT_NE(together, diff.decisions.end());
  EXPECT_EQ(together->because, (Causes{"--pin conv1=f32 (only in B)", "--pin conv2=f32 (only in B)"}));
}

TEST(PlanDiff, ErrorsOfFusedNodesByWhatTheyCover) {
  const auto model = convs();
  const auto a = planned(model, {.target = "cpu:avx2"});
  const auto b = planned(model, {.target = "cpu:avx2", .directives = {splitDirective("conv1")}});
  DiffInput inputOfA{.cover = a.get(), .label = "a"}, inputOfB{.cover = b.get(), .label = "b"};
  DiffErrors ofA{.on = "x", .how = "x", .values = {}}, ofB = ofA;
  for (const FusedNode& fused : a->fusedNodes) ofA.fusedNodes[fused.identity] = {0.5, 0.0625};
  double local = 0;
  for (const FusedNode& fused : b->fusedNodes) ofB.fusedNodes[fused.identity] = {0.5, local += 0.125};
  inputOfA.errors = {ofA};
  inputOfB.errors = {ofB};
  const PlanDiff diff = changesBetween(inputOfA, inputOfB);
  const auto split =
      std::ranges::find_if(diff.errors, [](const ErrorChange& change) { return change.ofB.size() == 2; });
  ASSERT_NE(split, diff.errors.end());
  EXPECT_EQ(split->ofA.size(), 1U);
  EXPECT_DOUBLE_EQ(split->a, split->b);
  EXPECT_DOUBLE_EQ(*split->localOfA, 0.0625);
  const auto localOf = [&](const CoveringNode& node) { return *ofB.fusedNodes.at(node.identity).local; };
  EXPECT_DOUBLE_EQ(*split->localOfB, std::max(localOf(split->ofB[0]), localOf(split->ofB[1]))) << "the worst of both";
}

// Of several errors those count that were measured on the same inputs, however old; else the newest, and it is said.
TEST(PlanDiff, ErrorsAreComparedOnTheSameInputs) {
  const auto model = convs();
  const auto plan = planned(model, {.target = "cpu:avx2"});
  const auto on = [](const std::string& inputs, double error) {
    return DiffErrors{.on = inputs, .how = inputs, .values = {{"b", {error, {}}}}};
  };
  DiffInput a{.cover = plan.get(), .label = "a"}, b = a;
  a.errors = {on("photos", 0.5), on("letters", 0.25)};
  b.errors = {on("digits", 8), on("photos", 0.125), on("noise", 4)};
  const PlanDiff alike = changesBetween(a, b);
  EXPECT_TRUE(alike.errorsAlike);
  EXPECT_EQ(alike.a.errorsOn, "photos");
  ASSERT_EQ(alike.errors.size(), 1U);
  EXPECT_DOUBLE_EQ(alike.errors[0].a, 0.5);
  EXPECT_DOUBLE_EQ(alike.errors[0].b, 0.125);
  b.errors = {on("noise", 4)};
  const PlanDiff apart = changesBetween(a, b);
  EXPECT_FALSE(apart.errorsAlike);
  EXPECT_EQ(apart.a.errorsOn, "letters");
  EXPECT_NE(printDiff(apart).find("A on letters\nB on noise"), std::string::npos) << printDiff(apart);
}

/// Every key of a document, those of decisions apart, which FORMAT.md of the plans has.
void collectKeys(const Json& json, std::set<std::string>& keys) {
  if (json.is_object()) {
    for (const auto& [key, value] : json.items()) {
      keys.insert(key);
      if (key != "decisions") collectKeys(value, keys);
    }
  }
  if (json.is_array())
    for (const Json& each : json) collectKeys(each, keys);
}

TEST(PlanDiff, TheDocumentOfItsJsonNamesEveryKey) {
  const auto model = convs();
  const auto a = planned(model, {.target = "cpu:avx2"});
  const auto b =
      planned(withNode(*model, "b", "Sigmoid", "gate"),
              {.target = "cpu:avx2", .precisions = {DataType::F16}, .directives = {splitDirective("conv2")}});
  PlanDiff diff = diffOf(*a, *b);
  diff.errors = {{.name = "b", .a = 1, .b = 2},
                 {.name = "c", .ofA = diff.fusions[0].a, .ofB = diff.fusions[0].b, .a = 1, .b = 2}};
  diff.changed = {{"a", "b", "attribute pads"}};
  diff.times = {{diff.fusions[0].a, diff.fusions[0].b, {1, DiffTimeKind::Built}, {2, DiffTimeKind::Run}}};
  std::set<std::string> keys;
  collectKeys(toJson(diff), keys);
  EXPECT_GT(keys.size(), 40U);
  const auto document = readTextFile(std::string(FUSESCOPE_SOURCE_DIR) + "/core/diff/FORMAT.md");
  ASSERT_TRUE(document.ok());
  for (const std::string& key : keys)
    EXPECT_NE(document.value().find(key), std::string::npos) << key << " is not in core/diff/FORMAT.md";
}

TEST(PlanDiff, IsTheSameEveryTime) {
  const auto model = sample("bert_tiny");
  const auto a = planned(model, {.target = "cpu:avx2", .precisions = {DataType::F16}});
  const auto b =
      planned(model, {.target = "tensorrt-10", .directives = pins({"op:Softmax=f16", "op:LayerNormalization=bf16"})});
  const std::string first = toJson(diffOf(*a, *b)).dump();
  EXPECT_EQ(toJson(diffOf(*a, *b)).dump(), first);
}

/// How often a diff of two plans asks for memory; the plans are of four nodes for each block.
long askedFor(int blocks) {
  const auto model = chainOfBlocks(widthsInTurn(blocks, 7));
  const auto a = planned(model, {.target = "cpu:avx2"});
  const auto b = planned(model, {.target = "cpu:avx2", .precisions = {DataType::F16}});
  const long before = allocations();
  EXPECT_GT(diffOf(*a, *b).types.size(), static_cast<std::size_t>(2 * blocks));
  return allocations() - before;
}

TEST(PlanDiff, ItsWorkGrowsAsTheNodesDo) {
  const long some = askedFor(1000), many = askedFor(5000);
  EXPECT_LE(many, 6 * some) << "five times the nodes";
}

}  // namespace
}  // namespace fusescope::test
