#include <algorithm>

#include "base/text.h"
#include "passes/pipelines.h"
#include "planning/patterns/match_pattern.h"
#include "planning/patterns/module_paths.h"
#include "tests/unit/passes/prepared_model.h"
#include "tests/unit/planning/plan_testing.h"

namespace fusescope {
namespace {

using Names = std::vector<std::string>;

Names namesOf(const Model& model, const std::vector<NodeId>& nodes) {
  Names names;
  for (const NodeId id : nodes) names.push_back(model.graph->node(id).name);
  return names;
}

/// All that `pattern` names, as text: nodes, then "path" of nodes in bodies, then "removed NAME".
Names matched(const Model& model, std::string_view pattern) {
  const auto match = PatternMatcher(model).match(pattern);
  EXPECT_TRUE(match.ok()) << match.error().text();
  if (!match.ok()) return {};
  Names names = namesOf(model, match.value().nodes);
  for (const BodyNode& found : match.value().inBodies) names.push_back(found.place.text());
  for (const OriginId origin : match.value().removed) names.push_back("removed " + model.origins[origin.index].name);
  return names;
}

Diagnostic refusal(const Model& model, std::string_view pattern) {
  const auto match = PatternMatcher(model).match(pattern);
  EXPECT_FALSE(match.ok()) << pattern;
  return match.ok() ? Diagnostic() : match.error();
}

/// Nodes in a row, called as given.
std::shared_ptr<const Model> rowOf(const Names& names) {
  testing::ModelBuilder builder;
  ValueId value = builder.input("x", {2, 2});
  for (const std::string& name : names) value = builder.node("Relu", name, {value}, {2, 2});
  builder.output(value);
  return builder.build();
}

TEST(Pattern, NamesGlobsRegexesAndOperators) {
  testing::ModelBuilder builder;
  const ValueId x = builder.input("x", {2, 2});
  const ValueId a = builder.node("Relu", "layer.0.relu", {x}, {2, 2});
  const ValueId b = builder.node("Relu", "layer.1.relu", {a}, {2, 2});
  builder.output(builder.node("Abs", "/abs/", {b}, {2, 2}));
  const auto model = builder.build();
  EXPECT_EQ(matched(*model, "layer.1.relu"), Names{"layer.1.relu"});
  EXPECT_EQ(matched(*model, "layer.*"), (Names{"layer.0.relu", "layer.1.relu"}));
  EXPECT_EQ(matched(*model, "layer.?.relu"), (Names{"layer.0.relu", "layer.1.relu"}));
  EXPECT_EQ(matched(*model, "/1.relu$/"), Names{"layer.1.relu"});
  EXPECT_EQ(matched(*model, "op:Abs"), Names{"/abs/"});
}

TEST(Pattern, ANameIsTriedFirstWhateverItLooksLike) {
  const auto model = rowOf({"/abs/", "abs", "a*", "ab", "op:Relu", "module:m", "value:v"});
  for (const char* name : {"/abs/", "a*", "op:Relu", "module:m", "value:v"})
    EXPECT_EQ(matched(*model, name), Names{name});
}

TEST(Pattern, NodesAnswerToTheNamesOfTheirOrigins) {
  testing::ModelBuilder builder;
  const ValueId x = builder.input("x", {2, 2});
  builder.output(builder.node("Relu", "relu", {x}, {2, 2}));
  Model model = *builder.build();
  model.origins[0].name = "first";
  EXPECT_EQ(matched(model, "first"), Names{"relu"});
  EXPECT_EQ(matched(model, "fir*"), Names{"relu"});
  EXPECT_EQ(matched(model, "relu"), Names{"relu"});
}

TEST(Pattern, NothingMatchedGivesTheNearest) {
  const auto model = rowOf({"layer.0.relu", "layer.1.relu"});
  EXPECT_NE(refusal(*model, "layer.0.rely").message.find("layer.0.rely"), std::string::npos);
  EXPECT_NE(refusal(*model, "layer.0.rely").help.find("layer.0.relu"), std::string::npos);
  EXPECT_NE(refusal(*model, "op:Rely").help.find("op:Relu"), std::string::npos);
  EXPECT_NE(refusal(*model, "module:leyer.1").help.find("module:layer.1"), std::string::npos);
  EXPECT_NE(refusal(*model, "value:layer.0.relu_ou").help.find("value:layer.0.relu_out"), std::string::npos);
}

TEST(Pattern, NamesThatResembleNothingAreNotOffered) {
  const auto model = rowOf({"layer.0.relu", "layer.1.relu"});
  for (const char* pattern : {"qqq", "op:Convolution", "module:encoder", "value:y", "/no.thing/"})
    EXPECT_EQ(refusal(*model, pattern).help,
              "No name is near; fusescope plan lists the nodes, with --json all that they read and write.")
        << pattern;
  EXPECT_EQ(refusal(*model, "*LAYER.1.rely*").help, "The nearest are layer.1.relu, layer.0.relu.");
}

TEST(Pattern, WhatIsNoRegularExpressionIsLocated) {
  const auto model = rowOf({"relu"});
  const Diagnostic open = refusal(*model, "/re(lu/");
  EXPECT_NE(open.message.find("'/re(lu/' is not a regular expression: missing )"), std::string::npos) << open.message;
  EXPECT_EQ(open.where.attribute, "/re(lu/");
  EXPECT_NE(open.help.find("RE2"), std::string::npos);
  EXPECT_NE(refusal(*model, "/" + std::string(3000, 'a') + "/").message.find("more than 2000"), std::string::npos);
}

TEST(Pattern, MatchingIsCancelledBetweenNames) {
  const auto model = rowOf({"relu", "abs"});
  std::stop_source source;
  source.request_stop();
  for (const char* pattern : {"re*", "/re/", "module:re*", "value:re*"}) {
    const auto match = PatternMatcher(*model).match(pattern, source.get_token());
    ASSERT_FALSE(match.ok()) << pattern;
    EXPECT_TRUE(match.error().cancelled) << pattern;
  }
}

TEST(Pattern, ModulesAreReadFromNames) {
  const auto slashes = rowOf({"/encoder/layer.3/attention/MatMul", "/encoder/layer.3/Add", "/encoder/layer.30/Add"});
  const Names third{"/encoder/layer.3/attention/MatMul", "/encoder/layer.3/Add"};
  EXPECT_EQ(matched(*slashes, "module:encoder.layer.3"), third);
  EXPECT_EQ(matched(*slashes, "module:encoder.layer.3.*"), third);
  EXPECT_EQ(matched(*slashes, "module:/encoder/layer.3"), third);
  EXPECT_EQ(matched(*slashes, "module:*.attention"), Names{third[0]});
  EXPECT_EQ(matched(*slashes, "module:encoder.layer.3?"), Names{"/encoder/layer.30/Add"});
  const auto dots = rowOf({"encoder.layer.3.attention.MatMul", "encoder.layer.4.Add"});
  EXPECT_EQ(matched(*dots, "module:encoder.layer.3.*"), Names{"encoder.layer.3.attention.MatMul"});
  EXPECT_EQ(matched(*dots, "module:encoder.layer"), namesOf(*dots, dots->graph->order()));
}

TEST(Pattern, WhatWrapsAnExportedModelIsNoModule) {
  const auto model =
      rowOf({"StatefulPartitionedCall/model/dense/MatMul", "F2::If_0_then_branch__Inline_0__/decoder/rnn/LSTM",
             "jax2tf_f_/Model/Dense_0/dot_general", "block/conv/Relu;block/conv/Conv2D"});
  EXPECT_EQ(matched(*model, "module:model.dense"), Names{"StatefulPartitionedCall/model/dense/MatMul"});
  EXPECT_EQ(matched(*model, "module:decoder.rnn"), Names{"F2::If_0_then_branch__Inline_0__/decoder/rnn/LSTM"});
  EXPECT_EQ(matched(*model, "module:*.Dense_0"), Names{"jax2tf_f_/Model/Dense_0/dot_general"});
  EXPECT_EQ(matched(*model, "module:block.conv"), Names{"block/conv/Relu;block/conv/Conv2D"});
}

TEST(Pattern, NodesWithoutAScopeAreInTheModulesOfTheirWeights) {
  const auto graph = parseGraph(R"(graph "g" {
  input %x: f32[1, 4]
  const %encoder.fc.weight: f32[4, 4] = dense
  const %encoder.fc.bias: f32[4] = dense
  const %"onnx::MatMul_9": f32[4, 4] = dense
  const %head.weight_quantized: int8[4, 4] = dense
  const %scale: f32[] = [0.5]
  const %conv2d_3.w_0: f32[4, 4] = dense
  %a: f32[1, 4] = Gemm(%x, %encoder.fc.weight, %encoder.fc.bias) {name="Gemm_0"}
  %b: f32[1, 4] = MatMul(%a, %"onnx::MatMul_9") {name="MatMul_1"}
  %w: f32[4, 4] = DequantizeLinear(%head.weight_quantized, %scale) {name="DequantizeLinear_2"}
  %c: f32[1, 4] = MatMul(%b, %w) {name="MatMul_3"}
  %conv2d_3.tmp_0: f32[1, 4] = MatMul(%c, %conv2d_3.w_0) {name="p2o.MatMul.0"}
  %relu_1.tmp_0: f32[1, 4] = Relu(%conv2d_3.tmp_0) {name="p2o.Relu.0"}
  output %relu_1.tmp_0
})");
  ASSERT_TRUE(graph.ok()) << graph.error().text();
  Model model;
  model.graph = graph.value();
  EXPECT_EQ(matched(model, "module:encoder"), Names{"Gemm_0"});
  EXPECT_EQ(matched(model, "module:encoder.fc"), Names{"Gemm_0"});
  EXPECT_EQ(matched(model, "module:head"), (Names{"DequantizeLinear_2", "MatMul_3"}));
  EXPECT_EQ(matched(model, "module:conv2d_3"), Names{"p2o.MatMul.0"});
  EXPECT_EQ(matched(model, "module:relu_1"), Names{"p2o.Relu.0"});
  EXPECT_FALSE(PatternMatcher(model).match("module:onnx").ok()) << "a name that the exporter made";
}

TEST(Pattern, AContainerWrittenTwiceIsOneModule) {
  const auto model = rowOf({"/layer1/layer1.0/conv1/Conv", "/features/features.1/features.1.0/Conv"});
  EXPECT_EQ(matched(*model, "module:layer1.0.conv1"), Names{"/layer1/layer1.0/conv1/Conv"});
  EXPECT_EQ(matched(*model, "module:features.1.0"), Names{"/features/features.1/features.1.0/Conv"});
}

TEST(Pattern, ModulesAreReadFromTheExportersScopes) {
  const auto bert = importModel(test::sampleFolder("bert_tiny") / "model.onnx");
  ASSERT_TRUE(bert.ok()) << bert.error().text();
  const auto found = PatternMatcher(bert.value()).match("module:m.encoder.layer.1.*");
  ASSERT_TRUE(found.ok()) << found.error().text();
  const Names names = namesOf(bert.value(), found.value().nodes);
  EXPECT_EQ(names.front(), "node_MatMul_123") << "the query of the second layer";
  EXPECT_EQ(std::count(names.begin(), names.end(), "node_layer_norm_2"), 0) << "the first layer's";
  const Model& model = bert.value();
  for (const NodeId id : found.value().nodes) {
    const std::string& module = model.origins[model.graph->node(id).origins.at(0).index].module;
    EXPECT_TRUE(module.starts_with("m.encoder.layer.1.")) << module;
  }
}

TEST(Pattern, ValuesNameTheNodesThatMakeThem) {
  const auto model = rowOf({"a", "b", "c"});
  EXPECT_EQ(matched(*model, "value:b_out"), Names{"b"});
  EXPECT_EQ(matched(*model, "value:?_out"), (Names{"a", "b", "c"}));
  EXPECT_EQ(matched(*model, "value:/^[bc]_/"), (Names{"b", "c"}));
  const auto input = PatternMatcher(*model).match("value:x");
  ASSERT_TRUE(input.ok());
  EXPECT_TRUE(input.value().nodes.empty()) << "no node makes an input";
  EXPECT_EQ(input.value().values, model->graph->inputs());
}

constexpr const char* kNested =
    "g (bool c, float[4] x) => (float[4] z) {"
    "  [sq] x2 = Mul (x, x)"
    "  [the_if] y = If (c) <then_branch = t () => (float[4] t) {"
    "      [deep] t = If (c) <then_branch = tt () => (float[4] tt) { [leaf] tt = Tanh (x2) },"
    "                         else_branch = te () => (float[4] te) { [inner_exp] te = Exp (x2) }> },"
    "    else_branch = e () => (float[4] e) { [inner_exp] e = Exp (x2) }>"
    "  [last] z = Relu (y) }";

TEST(Pattern, NodesInBodiesAreNamedThroughTheirHolders) {
  const Model model = test::prepared(kNested);
  EXPECT_EQ(matched(model, "the_if"), Names{"the_if"});
  EXPECT_EQ(matched(model, "the_if/inner_exp"), Names{"the_if/inner_exp"});
  EXPECT_EQ(matched(model, "the_if/deep/leaf"), Names{"the_if/deep/leaf"});
  EXPECT_EQ(matched(model, "the_if/deep/*"), (Names{"the_if/deep/inner_exp", "the_if/deep/leaf"}));
  EXPECT_EQ(matched(model, "the_if/op:Exp"), Names{"the_if/inner_exp"});
  EXPECT_NE(refusal(model, "the_if/inner_ex").help.find("the_if/inner_exp"), std::string::npos);
  EXPECT_NE(refusal(model, "inner_exp").help.find("the_if/inner_exp"), std::string::npos);
}

TEST(Pattern, AllButNamesReachIntoBodies) {
  const Model model = test::prepared(kNested);
  const Names exps{"the_if/inner_exp", "the_if/deep/inner_exp"};
  EXPECT_EQ(matched(model, "op:Exp"), exps);
  EXPECT_EQ(matched(model, "*_exp"), exps);
  EXPECT_EQ(matched(model, "/^inner_e/"), exps);
  EXPECT_EQ(matched(model, "value:te"), Names{"the_if/deep/inner_exp"});
  EXPECT_EQ(matched(model, "*/inner_exp"), exps) << "the path is tested, too";
  EXPECT_EQ(matched(model, "the*/leaf"), Names{"the_if/deep/leaf"});
  EXPECT_EQ(matched(model, "/deep.leaf$/"), Names{"the_if/deep/leaf"});
  EXPECT_EQ(matched(model, "*").size(), 7U);
  EXPECT_EQ(matched(model, "value:x2"), Names{"sq"}) << "a value of the main graph by its name";
  EXPECT_NE(refusal(model, "leaf").help.find("the_if/deep/leaf"), std::string::npos) << "a name is of its own graph";
  EXPECT_NE(refusal(model, "op:Tan").help.find("op:Tanh"), std::string::npos);
}

TEST(Pattern, OperatorsInBodiesThatAGlobNames) {
  const Model model = test::prepared(kNested);
  const Names exps{"the_if/inner_exp", "the_if/deep/inner_exp"};
  EXPECT_EQ(matched(model, "*/op:Exp"), exps) << "at whatever depth, and none outside";
  EXPECT_EQ(matched(model, "*/op:Tanh"), Names{"the_if/deep/leaf"});
  EXPECT_EQ(matched(model, "*/deep/op:Exp"), Names{"the_if/deep/inner_exp"});
  EXPECT_EQ(matched(model, "the_if/*/op:Exp"), Names{"the_if/deep/inner_exp"});
  EXPECT_EQ(matched(model, "*/else_branch/op:Exp"), (Names{"the_if/inner_exp", "the_if/deep/inner_exp"}));
  EXPECT_EQ(matched(model, "the_if/else_branch/op:Exp"), Names{"the_if/inner_exp"});
  EXPECT_NE(refusal(model, "*/op:Mul").message.find("matches no node"), std::string::npos) << "it is in no body";
  EXPECT_NE(refusal(model, "*/op:Tan").help.find("*/op:Tanh"), std::string::npos) << refusal(model, "*/op:Tan").help;
  EXPECT_EQ(matched(*rowOf({"*/op:Relu"}), "*/op:Relu"), Names{"*/op:Relu"}) << "a name is tried first";
}

TEST(Pattern, WhatCouldNameNothingIsSaidToBeNoPattern) {
  const Model model = test::prepared(kNested);
  for (const char* pattern : {"op:Ex*", "op:", "*/op:", "*/op:Ex*", "module:m/op:Exp", "op:If/op:Exp", "*/value:x",
                              "the_if/module:m", "/the_if//op:Exp"}) {
    const Diagnostic said = refusal(model, pattern);
    EXPECT_NE(said.message.find("is not a pattern: "), std::string::npos) << pattern << ": " << said.message;
    EXPECT_EQ(said.where.attribute, pattern);
  }
  const Diagnostic none = refusal(*rowOf({"relu"}), "*/op:Relu");
  EXPECT_NE(none.message.find("names nodes in bodies, and the network has no bodies"), std::string::npos)
      << none.message;
}

/// What a pattern comes to in a body, the body's own planner finds again.
TEST(Pattern, WhatIsHandedToABodyNamesTheSameThere) {
  const Model model = test::prepared(kNested);
  for (const char* pattern : {"op:Exp", "*_exp", "*/leaf", "/^the_if.(inner|deep.leaf)/", "*e*", "the_if/deep/*",
                              "*/op:Exp", "*/deep/op:Exp", "*/else_branch/op:Exp"}) {
    const auto match = PatternMatcher(model).match(pattern);
    ASSERT_TRUE(match.ok()) << match.error().text();
    for (const ModelBody& body : model.bodies) {
      Names here, there;
      std::string rest;
      for (const BodyNode& node : match.value().inBodies) {
        if (node.attribute() != body.attribute) continue;
        rest = node.rest;
        const auto& steps = node.place.bodies.steps();
        here.push_back(BodyPath({steps.begin() + 1, steps.end()}).of(node.place.name));
      }
      if (here.empty()) continue;
      there = matched(*body.model, rest);
      std::ranges::sort(here);
      std::ranges::sort(there);
      EXPECT_EQ(here, there) << pattern << " in " << body.attribute;
    }
  }
}

TEST(Pattern, NodesThatNormalisationRemovedAreNamedStill) {
  const Model model = test::prepared(
      "g (float[4] x) => (float[4] z) { [relu] a = Relu (x) [ident] b = Identity (a) [exp] z = Exp (b) }");
  EXPECT_EQ(matched(model, "ident"), Names{"removed ident"});
  EXPECT_EQ(matched(model, "id*"), Names{"removed ident"});
  EXPECT_EQ(matched(model, "op:Identity"), Names{"removed ident"});
  EXPECT_EQ(matched(model, "/e/"), (Names{"relu", "exp"})) << "where nodes are left, those alone are meant";
}

TEST(Pattern, TwoHundredPatternsOnFiveThousandNodes) {
  Names names;
  for (int i = 0; i < 5000; ++i)
    names.push_back("/encoder/layer." + std::to_string(i / 10) + "/op" + std::to_string(i));
  const auto model = rowOf(names);
  PatternMatcher matcher(*model);
  for (int i = 0; i < 200; ++i) {
    const std::string& exact = names[static_cast<std::size_t>(i * 25)];
    const auto one = matcher.match(exact);
    ASSERT_TRUE(one.ok());
    EXPECT_EQ(namesOf(*model, one.value().nodes), Names{exact});
    const auto ten = matcher.match("module:encoder.layer." + std::to_string(i));
    ASSERT_TRUE(ten.ok());
    EXPECT_EQ(ten.value().nodes.size(), 10U);
    const auto glob = matcher.match("/encoder/layer." + std::to_string(i) + "/*");
    ASSERT_TRUE(glob.ok());
    EXPECT_EQ(glob.value().nodes, ten.value().nodes);
  }
}

}  // namespace
}  // namespace fusescope
