// What plans and explanations say of edges, kernels, borders and pins.
#include <gtest/gtest.h>

#include <set>

#include "planning/cover_json.h"
#include "planning/fused_node_facts.h"
#include "planning/segment_borders.h"
#include "planning/types/pin_answers.h"
#include "session/artifact.h"
#include "session/compare.h"
#include "session/documents/compare_report.h"
#include "session/documents/engine_reports.h"
#include "session/explain.h"
#include "session/inputs/random_inputs.h"
#include "session/inputs/samples.h"
#include "session/layer_types.h"
#include "session/open_model.h"
#include "session/runs/run_comparison.h"
#include "tests/support/networks.h"
#include "tests/unit/frontends/onnx_files.h"

namespace fusescope::test {
namespace {

std::shared_ptr<const Model> opened(const std::string& graph, const std::string& moreOpsets = "") {
  const TemporaryFolder folder;
  auto model = openModel(folder.write("model.onnx", onnxBytes(graph, 18, moreOpsets)));
  EXPECT_TRUE(model.ok()) << model.error().text();
  return model.ok() ? model.value() : nullptr;
}

std::shared_ptr<const Plan> planOf(std::shared_ptr<const Model> model, const std::vector<std::string>& pins,
                                   std::vector<DataType> precisions = {}, const std::string& target = "cpu:avx2") {
  PlanOptions options{.target = target, .precisions = std::move(precisions)};
  for (const std::string& pin : pins) {
    auto parsed = parsePin(pin);
    EXPECT_TRUE(parsed.ok()) << pin;
    options.directives.push_back(parsed.value());
  }
  auto plan = makePlan(std::move(model), options);
  EXPECT_TRUE(plan.ok()) << plan.error().text();
  return plan.ok() ? plan.value() : nullptr;
}

Json explained(const Plan& plan, const std::string& node) {
  const auto json = explainJson(plan, node);
  EXPECT_TRUE(json.ok()) << json.error().text();
  return json.ok() ? json.value() : Json();
}

std::shared_ptr<const Model> attention() {
  return opened(
      "g (float[1,2,8,16] q, float[1,2,16,8] k, float[1,2,8,16] v) => (float[1,2,8,16] y) {"
      "  [scores] s = MatMul (q, k) [softmax] p = Softmax <axis=-1> (s) [product] y = MatMul (p, v) }");
}

/// Two kernels with a fallback between them.
std::shared_ptr<const Plan> threeSegments(std::vector<DataType> precisions, const Directives& more = {}) {
  PlanOptions options{.target = "cpu:avx2", .precisions = std::move(precisions), .directives = more};
  options.directives.push_back(fallbackDirective("odd"));
  auto plan = makePlan(opened("g (float[4,8] x) => (float[4,8] y) {"
                              "  [first] a = Softmax (x) [odd] b = Exp (a) [last] y = Softmax (b) }"),
                       options);
  EXPECT_TRUE(plan.ok()) << plan.error().text();
  return plan.ok() ? plan.value() : nullptr;
}

const Json& fusedOf(const Json& plan, const std::string& node) {
  for (const Json& fused : plan.at("fused_nodes"))
    for (const Json& name : fused.at("nodes"))
      if (name == node) return fused;
  throw std::runtime_error("no fused node holds " + node);
}

TEST(PlanReport, TypesOfALayerComeBackFromTheirJsonAndItsText) {
  for (const std::vector<DataType>& precisions : {std::vector<DataType>(), {DataType::F16}}) {
    const auto plan = planOf(attention(), {}, precisions);
    for (const FusedNode& fused : plan->fusedNodes) {
      const LayerTypes types = layerTypes(*plan, fused);
      EXPECT_EQ(layerTypesFromJson(toJson(types)), types);
      EXPECT_EQ(layerTypesFromJson(layerTypesText(types)), types) << "as a session file holds it";
    }
  }
  EXPECT_EQ(layerTypesFromJson(""), std::nullopt) << "of a conversion";
  EXPECT_EQ(layerTypesFromJson("no JSON"), std::nullopt);
  EXPECT_EQ(layerTypesFromJson(nullptr), std::nullopt);
}

TEST(PlanReport, AKernelSaysWhatItReadsHoldsAndIs) {
  const auto plan = planOf(attention(), {}, {DataType::F16});
  const Json json = toJson(*plan);
  EXPECT_EQ(json["version"], kPlanVersion);
  const Json& kernel = fusedOf(json, "softmax");
  ASSERT_EQ(kernel["kind"], "attention");
  ASSERT_EQ(kernel["reads"].size(), kernel["inputs"].size());
  for (std::size_t i = 0; i < kernel["reads"].size(); ++i) {
    EXPECT_EQ(kernel["reads"][i]["value"], kernel["inputs"][i]);
    EXPECT_EQ(kernel["reads"][i]["type"], "f16");
  }
  std::map<std::string, Json> roles;
  for (const Json& binding : kernel["bindings"]) roles[binding["role"].get<std::string>()] = binding;
  EXPECT_EQ(roles["query"]["value"], "q");
  EXPECT_TRUE(roles["query"]["node"].is_null());
  EXPECT_EQ(roles["softmax"]["node"], "softmax");
  EXPECT_EQ(roles["product"]["node"], "product");
  EXPECT_EQ(kernel["identity"].get<std::string>().size(), 32U);
  EXPECT_EQ(kernel["predicted"], false);
  EXPECT_TRUE(kernel["calculates"].empty());
  std::map<std::string, Json> inner;
  for (const Json& edge : kernel["inner_edges"]) inner[edge["value"].get<std::string>()] = edge;
  EXPECT_EQ(inner["s"]["type"], "f32") << "scores are held in the accumulate type";
  EXPECT_EQ(inner["s"]["real"], false);
  EXPECT_EQ(inner["p"]["type"], "f16") << "probabilities are narrowed before their product";
}

TEST(PlanReport, AKernelOfMixedTypesNamesTheNodesThatDiffer) {
  const auto plan = planOf(attention(), {"softmax=f32"}, {DataType::F16});
  const Json kernel = fusedOf(toJson(*plan), "softmax");
  ASSERT_EQ(kernel["kind"], "attention") << "the pin is free";
  EXPECT_EQ(kernel["compute"], "f16");
  EXPECT_EQ(kernel["calculates"], Json::array({{{"node", "softmax"}, {"type", "f32"}}}));
  const FusedNode& fused = *plan->fusedNodeOf(*plan->graph().findNode("softmax"));
  EXPECT_EQ(calculatedTypes(*plan, fused), (std::vector{DataType::F16, DataType::F32}));
  EXPECT_NE(keptInWiderType(fused, *plan->graph().findValue("s")), nullptr);
  EXPECT_EQ(keptInWiderType(fused, *plan->graph().findValue("p")), nullptr);
}

TEST(PlanReport, FusionsOfATensorRTTargetArePredictions) {
  const auto plan = planOf(attention(), {}, {DataType::F16}, "tensorrt-10");
  for (const FusedNode& fused : plan->fusedNodes) EXPECT_EQ(isPrediction(*plan, fused), !plan->inFallback(fused));
  EXPECT_EQ(fusedOf(toJson(*plan), "softmax")["predicted"], true);
  EXPECT_EQ(explained(*plan, "softmax")["predicted"], true);
}

TEST(PlanReport, BordersAreTheSameFromBothSides) {
  const auto plan = threeSegments({DataType::F16});
  const Json json = toJson(*plan);
  ASSERT_EQ(json["segments"].size(), 3U);
  std::multiset<std::string> out, in;
  for (const Json& segment : json["segments"]) {
    for (const Json& border : segment["borders"]) {
      if (border["other"].is_null()) continue;
      const bool leaves = border["direction"] == "out";
      const std::string from = leaves ? segment["id"] : border["other"], to = leaves ? border["other"] : segment["id"];
      (leaves ? out : in)
          .insert(from + ">" + to + " " + border["value"].get<std::string>() + " " + border["conversion"].dump());
    }
  }
  EXPECT_EQ(out, in);
  EXPECT_EQ(out.size(), 2U);
}

TEST(PlanReport, EveryConversionAtABorderIsACastOfThePlan) {
  const auto plan = threeSegments({DataType::F16});
  std::set<const PlannedCast*> seen;
  for (const auto& borders : segmentBorders(*plan)) {
    for (const SegmentBorder& border : borders) {
      if (border.conversion == nullptr) continue;
      EXPECT_EQ(border.conversion->value, border.value);
      EXPECT_EQ(border.conversion->from, border.type);
      seen.insert(border.conversion);
    }
  }
  // Each kernel is a segment of its own here, so that each cast stands at a border.
  EXPECT_EQ(seen.size(), plan->casts.size());
  ASSERT_FALSE(plan->casts.empty());
  EXPECT_EQ(*plan->casts.front().bytes, 4 * 8 * (4 + 2));
}

TEST(PlanReport, PinsAreAnsweredInFourWays) {
  const auto free = planOf(attention(), {"softmax=f32"}, {DataType::F16});
  Json answers = explained(*free, "softmax")["answers"];
  ASSERT_EQ(answers.size(), 1U) << answers.dump(1);
  EXPECT_EQ(answers[0]["answer"], "free");
  EXPECT_NE(answers[0]["message"].get<std::string>().find("is satisfied for free"), std::string::npos);

  const auto price = planOf(attention(), {"product=f32"}, {DataType::F16});
  const Json priced = explained(*price, "product");
  ASSERT_EQ(priced["answers"].size(), 1U) << priced["answers"].dump(1);
  EXPECT_EQ(priced["answers"][0]["answer"], "price");
  EXPECT_TRUE(priced["together"].is_null()) << "one pin alone";
  Plan torn = *price;
  const auto cost = std::ranges::find(torn.answers, DirectiveOutcome::Price, &DirectiveAnswer::outcome);
  ASSERT_NE(cost, torn.answers.end());
  cost->cost->lostFusions = {"a + b", "c + d + e + f", "g + h", "i + j"};
  const std::string text = answerText(torn, cost->decision);
  EXPECT_NE(text.find("a + b, c + … + f (4 nodes), g + h and 1 more;"), std::string::npos) << text;

  const auto refused = threeSegments({}, {parsePin("odd=f16").value()});
  EXPECT_EQ(explained(*refused, "odd")["answers"][0]["answer"], "refused");

  const auto nothing = planOf(opened("g (float[4] x) => (float[4] y) {"
                                     "  [first] a = Relu (x) [same] b = Identity (a) [last] y = Exp (b) }"),
                              {"same=f16"});
  const Json removed = explained(*nothing, "same");
  ASSERT_EQ(removed["answers"].size(), 1U);
  EXPECT_EQ(removed["answers"][0]["answer"], "nothing_to_pin");
  EXPECT_TRUE(removed["fused_node"].is_null());
  ASSERT_EQ(removed["became"].size(), 1U) << removed.dump(1);
  EXPECT_EQ(removed["became"][0]["code"], "normalise.identity_removed");

  const auto two = planOf(attention(), {"product=f32", "scores=f32"}, {DataType::F16});
  EXPECT_EQ(explained(*two, "product")["together"]["pins"], 2);
}

TEST(PlanReport, ANodeInABodyIsExplainedByItsPath) {
  const auto model = opened(
      "g (bool c, float[4] x) => (float[4] y) {"
      "  [the_if] y = If (c) <then_branch = t () => (float[4] a) { [inner_exp] a = Exp (x) },"
      "                       else_branch = e () => (float[4] b) { [inner_neg] b = Neg (x) }> }");
  const auto plan = planOf(model, {"the_if/inner_exp=f16"});
  const Json json = explained(*plan, "the_if/inner_exp");
  EXPECT_EQ(json["node"], "the_if/inner_exp");
  EXPECT_EQ(json["body_of"], "the_if");
  EXPECT_EQ(json["attribute"], "then_branch");
  EXPECT_EQ(json["granted"], "f16");
  EXPECT_EQ(json["fused_node"], "inner_exp");
  EXPECT_FALSE(json["decisions"].empty());
  ASSERT_GE(json["answers"].size(), 1U);
  EXPECT_EQ(json["answers"][0]["by"], "pin:1");

  const Json fallback = [&] {
    PlanOptions options{.target = "cpu:avx2", .directives = {fallbackDirective("the_if")}};
    return explained(*makePlan(model, options).value(), "the_if/inner_exp");
  }();
  EXPECT_EQ(fallback["granted"], "f32");
  EXPECT_EQ(fallback["fused_node"], "the_if");
  EXPECT_FALSE(explainJson(*plan, "the_if/no_such_node").ok());
}

TEST(Explain, ANameOfTwoBranchesIsRefusedWithBoth) {
  const auto plan = planOf(opened("g (bool c, float[4] x) => (float[4] y) {"
                                  "  [the_if] y = If (c) <then_branch = t () => (float[4] a) { [twin] a = Exp (x) },"
                                  "    else_branch = e () => (float[4] b) { [twin] b = Sin (x) }> }"),
                           {});
  const auto refused = explainJson(*plan, "the_if/twin");
  ASSERT_FALSE(refused.ok());
  for (const char* place : {"the_if/then_branch/twin", "the_if/else_branch/twin"}) {
    EXPECT_NE(refused.error().message.find(place), std::string::npos) << refused.error().text();
    const Json json = explained(*plan, place);
    EXPECT_EQ(json["node"], place);
    EXPECT_EQ(json["attribute"], std::string(place).find("then") != std::string::npos ? "then_branch" : "else_branch");
  }
}

TEST(Identity, IsOfTheNodesOfTheFileAndOutlivesOtherPins) {
  const auto before = planOf(attention(), {}, {DataType::F16});
  const auto free = planOf(attention(), {"softmax=f32"}, {DataType::F16});
  const auto apart = planOf(attention(), {"product=f32"}, {DataType::F16});
  const auto identityIn = [](const Plan& plan, const char* node) {
    return plan.fusedNodeOf(*plan.graph().findNode(node))->identity;
  };
  EXPECT_EQ(identityIn(*before, "softmax"), identityIn(*free, "softmax"));
  EXPECT_NE(identityIn(*before, "softmax"), identityIn(*apart, "softmax"));
}

TEST(Identity, KernelsThatOneNodeOfTheFileBecameAreToldApart) {
  const auto model = opened(
      "g (float[4,4] x) => (float[4,4] y) { [call] y = local.f (x) }\n"
      "<domain: \"local\", opset_import: [\"\" : 18]> f (a) => (c) { b = Softmax (a) c = MatMul (b, b) }",
      ", \"local\" : 1");
  ASSERT_NE(model, nullptr);
  const auto plan = planOf(model, {});
  ASSERT_GT(plan->fusedNodes.size(), 1U);
  std::set<Hash128> identities;
  for (const FusedNode& fused : plan->fusedNodes) identities.insert(fused.identity);
  EXPECT_EQ(identities.size(), plan->fusedNodes.size());
}

/// x · w, Relu: nodes of the file "a" and "b", called `first` and `second` in the graph.
std::shared_ptr<const Model> calledSo(const char* first, const char* second) {
  GraphEditor editor;
  Model model;
  model.origins = {{"a", "MatMul", ""}, {"b", "Relu", ""}};
  const TensorType type{DataType::F32, Shape::of(Dims{4, 8})};
  const ValueId x = editor.addInput("x", type), w = editor.addConstant("w", Tensor::zeros(DataType::F32, {8, 8}));
  const ValueId product = editor.addValue("product", type), result = editor.addValue("result", type);
  editor.addNode({.op = "MatMul", .name = first, .inputs = {x, w}, .outputs = {product}, .origins = {OriginId(0)}});
  editor.addNode({.op = "Relu", .name = second, .inputs = {product}, .outputs = {result}, .origins = {OriginId(1)}});
  editor.addOutput(result);
  model.graph = editor.publish().value();
  return std::make_shared<const Model>(std::move(model));
}

TEST(Identity, KernelsOfOtherNamesAreComparedWhereTheyCoverTheSameNodesOfTheFile) {
  const auto a = planOf(calledSo("a", "b"), {}), b = planOf(calledSo("product_1", "relu_1"), {});
  ASSERT_EQ(a->fusedNodes.size(), 1U);
  ASSERT_NE(a->fusedNodes[0].name, b->fusedNodes[0].name);
  const auto groups = commonCover(*a, *b);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_TRUE(groups[0].same);
}

TEST(Identity, GroupsOfAComparisonGoByItAndNotByName) {
  const auto plan = planOf(networkOfOneNameTwice(), {});
  ASSERT_EQ(plan->fusedNodes.size(), 2U);
  ASSERT_EQ(plan->fusedNodes[0].name, plan->fusedNodes[1].name);
  const auto groups = commonCover(*plan, *plan);
  ASSERT_EQ(groups.size(), 2U);
  for (const CoverGroup& group : groups) {
    EXPECT_TRUE(group.same);
    EXPECT_EQ(group.a[0].id, group.b[0].id);
  }
  EXPECT_NE(groups[0].a[0].identity, groups[1].a[0].identity);
}

std::shared_ptr<const Model> branching() {
  return opened(
      "g (bool c, float[1, 1, 6, 6] x) => (float[1, 1, 6, 6] z) <float[1, 1, 3, 3] w = {1, 2, 1, 2, 4, 2, 1, 2, 1}> {"
      "  [the_if] y = If (c) <then_branch = t () => (float[1, 1, 6, 6] t) {"
      "      [conv] k = Conv <pads = [1, 1, 1, 1]> (x, w) [relu] t = Relu (k) },"
      "    else_branch = e () => (float[1, 1, 6, 6] e) { [exp] e = Exp (x) }>"
      "  [last] z = Softmax (y) }");
}

TEST(CommonCover, GoesIntoBodies) {
  const auto model = branching();
  const auto a = planOf(model, {}, {}, "tensorrt-10"), b = planOf(model, {"the_if/relu=f16:obey"}, {}, "tensorrt-10");
  ASSERT_TRUE(a && b);
  const auto groups = commonCover(*a, *b);
  ASSERT_EQ(groups.size(), 4U);
  EXPECT_EQ(groups[0].origins, std::vector<std::string>{"the_if"});
  EXPECT_TRUE(groups[0].body.isNetwork());
  EXPECT_EQ(groups[1].body.text(), "the_if/else_branch");
  EXPECT_EQ(groups[1].origins, std::vector<std::string>{"the_if/exp"});
  EXPECT_TRUE(groups[1].same);
  const CoverGroup& torn = groups[2];
  EXPECT_EQ(torn.body.text(), "the_if/then_branch");
  EXPECT_EQ(torn.origins, (std::vector<std::string>{"the_if/conv", "the_if/relu"}));
  ASSERT_EQ(torn.a.size(), 1U);
  EXPECT_EQ(torn.a[0].place.text(), "the_if/conv + relu");
  EXPECT_EQ(torn.a[0].place.bodies.text(), "the_if/then_branch");
  ASSERT_EQ(torn.b.size(), 2U);
  EXPECT_EQ(torn.b[1].place.text(), "the_if/relu");
  EXPECT_FALSE(torn.same);
  EXPECT_EQ(groups[3].origins, std::vector<std::string>{"last"});
}

TEST(CommonCover, OfAHolderThatFallsBackOnOneSideHasNoCounterpart) {
  const auto model = branching();
  const auto a = planOf(model, {});
  const auto b = makePlan(model, {.target = "cpu:avx2", .directives = {fallbackDirective("the_if")}});
  ASSERT_TRUE(a && b.ok());
  const auto groups = commonCover(*a, *b.value());
  ASSERT_EQ(groups.size(), 4U);
  EXPECT_TRUE(groups[1].b.empty());
  EXPECT_EQ(groups[1].a.size(), 1U);
  EXPECT_FALSE(groups[2].same);
}

TEST(CompareReport, TimesWhatIsInBodies) {
  const auto model = branching();
  const auto build = [&](const std::vector<std::string>& split) {
    PlanOptions options{.target = "cpu:avx2"};
    for (const std::string& node : split) options.directives.push_back(splitDirective(node));
    return buildEngine(makePlan(model, options).value(), {.backend = "native", .threads = 1, .measureTactics = false});
  };
  const auto a = build({}), b = build({"the_if/conv"});
  ASSERT_TRUE(a.ok() && b.ok());
  for (const bool taken : {true, false}) {
    std::map<std::string, Tensor> inputs = randomInputs(a.value()->plan());
    inputs["c"] = Tensor::ofInt64({taken ? 1 : 0}).reshaped({}).converted(DataType::Bool);
    const auto report = compareEngines(*a.value(), *b.value(), {.list = {{"given", inputs}}}, 0.2);
    ASSERT_TRUE(report.ok()) << report.error().text();
    EXPECT_EQ(report.value().valuesInBodies, 2) << "of each branch its result: k is in memory in B alone";
    const Json json = toJson(report.value());
    const Json& yes = json["groups"][2];
    EXPECT_EQ(yes["body_of"], "the_if");
    EXPECT_EQ(yes["attribute"], "then_branch");
    EXPECT_EQ(yes["b"], Json::array({"the_if/conv", "the_if/relu"}));
    EXPECT_EQ(yes["a_ms"].get<double>() > 0, taken) << yes;
    EXPECT_EQ(json["groups"][1]["a_ms"].get<double>() > 0, !taken);
    EXPECT_GE(json["groups"][0]["b_ms"].get<double>(), yes["b_ms"].get<double>()) << "the holder's time includes it";
  }
}

}  // namespace
}  // namespace fusescope::test
