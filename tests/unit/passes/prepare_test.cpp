#include <gtest/gtest.h>

#include <set>

#include "passes/pipelines.h"
#include "tests/unit/frontends/onnx_files.h"

namespace fusescope::test {
namespace {

Model preparedText(const std::string& graph, const std::string& appended = "") {
  auto imported = importBytes(onnxBytes(graph) + appended);
  EXPECT_TRUE(imported.ok()) << imported.error().text();
  auto prepared = prepareModel(std::move(imported).value());
  EXPECT_TRUE(prepared.ok()) << prepared.error().text();
  return std::move(prepared).value();
}

/// The names of nodes in order, joined.
std::string nodesOf(const Model& model) {
  std::string names;
  for (const NodeId id : model.graph->order()) names += (names.empty() ? "" : " ") + model.graph->node(id).name;
  return names;
}

std::vector<std::string> outputsOf(const Model& model) {
  std::vector<std::string> names;
  for (const ValueId id : model.graph->outputs()) names.push_back(model.graph->value(id).name);
  return names;
}

TEST(Prepare, IdentitiesAndDropoutGo) {
  const Model model = preparedText(
      "g (float[2] x) => (float[2] y) { [i] a = Identity (x) [d] b = Dropout (a) [r] c = Relu (b) [j] y = Identity (c) "
      "}");
  EXPECT_EQ(nodesOf(model), "r");
  EXPECT_EQ(outputsOf(model), std::vector<std::string>{"y"});
  EXPECT_EQ(countCode(model, "normalise.identity_removed"), 2U);
  EXPECT_EQ(countCode(model, "normalise.dropout_removed"), 1U);
}

TEST(Prepare, AnIdentityThatNamesAnOutputStaysWhereItMust) {
  const Model handedThrough = preparedText("g (float[2] x) => (float[2] y) { [i] y = Identity (x) }");
  EXPECT_EQ(nodesOf(handedThrough), "i");
  const Model twice = preparedText(
      "g (float[2] x) => (float[2] y, float[2] z) { [r] a = Relu (x) [i] y = Identity (a) [j] z = Identity (a) }");
  EXPECT_EQ(nodesOf(twice), "r j");
  EXPECT_EQ(outputsOf(twice), (std::vector<std::string>{"y", "z"}));
}

TEST(Prepare, ShapeArithmeticIsFolded) {
  const Model model = preparedText(
      "g (float[2,3,4] x) => (float[2,12] y) <int64[1] zero = {0}, int64[1] rest = {-1}> {"
      "  [s] s = Shape (x) [g] n = Gather (s, zero) [c] t = Concat <axis=0> (n, rest) [r] y = Reshape (x, t) }");
  EXPECT_EQ(nodesOf(model), "r");
  EXPECT_EQ(countCode(model, "normalise.extents_known"), 1U);
  EXPECT_EQ(countCode(model, "normalise.folded"), 2U);
}

TEST(Prepare, DequantizedParametersOfNormsAreNumbersAndThoseOfProductsStayCodes) {
  const Model model = preparedText(
      "g (float[1,2,4] x) => (float[1,2,4] y, float[1,2,2] z) <int8[2] q = {-2, 4}, float[2] p = {-1, 2},"
      " float s = {0.5}, int8 o = {0}, int8[4,2] w = {1, 2, 3, 4, 5, 6, 7, 8}> {"
      "  [d] a = DequantizeLinear (q, s) [k] l = QuantizeLinear (p, s, o) [e] b = DequantizeLinear (l, s)"
      "  [f] c = DequantizeLinear (w, s)"
      "  [n] y = InstanceNormalization (x, a, b) [m] z = MatMul (y, c) }");
  EXPECT_EQ(nodesOf(model), "f n m");
  EXPECT_EQ(countCode(model, "normalise.folded"), 3U);
  const Graph& graph = *model.graph;
  const Tensor* scale = graph.constantData(graph.node(*graph.findNode("n")).input(1));
  ASSERT_NE(scale, nullptr);
  EXPECT_EQ(scale->asDouble(0), -1);
  EXPECT_EQ(scale->asDouble(1), 2);
}

TEST(Prepare, OpenExtentsAreNotFolded) {
  const Model model = preparedText("g (float[n,3] x) => (int64[2] s) { [s] t = Shape (x) [d] s = Add (t, t) }");
  EXPECT_EQ(nodesOf(model), "s d");
}

TEST(Prepare, ConstantsAreFoldedButAWeightsDequantizeStays) {
  const Model model = preparedText(
      "g (float[2] x) => (float[2] y) <float[2] a = {1, 2}, float[2] b = {3, 4}, int8[2] q = {1, 2}, float s = {0.5}> {"
      "  [add] c = Add (a, b) [dq] d = DequantizeLinear (q, s) [m] e = Mul (x, c) [n] y = Mul (e, d) }");
  EXPECT_EQ(nodesOf(model), "dq m n");
  const Tensor* c = model.graph->constantData(*model.graph->findValue("c"));
  ASSERT_NE(c, nullptr);
  EXPECT_EQ(c->asDouble(1), 6.0);
}

TEST(Prepare, ResultsOfConstantsKeepTheirNodeWhenTheyAreOutputs) {
  const Model model = preparedText(
      "g (float[2] x) => (float[2] y, float[1] z) <float[1] a = {1}> { [r] y = Relu (x) [n] z = Neg (a) }");
  EXPECT_EQ(nodesOf(model), "r n");
  EXPECT_EQ(outputsOf(model), (std::vector<std::string>{"y", "z"}));
}

TEST(Prepare, NothingIsFoldedWithoutData) {
  const Model model = preparedText("g (float[2] x) => (float[2] y) { [n] b = Neg (a) [m] y = Mul (x, b) }",
                                   weightlessInitializer("a", {2}));
  EXPECT_EQ(nodesOf(model), "n m");
}

TEST(Prepare, ConstantsMuchLargerThanTheirInputsAreNotMade) {
  const Model model = preparedText(
      "g (float[1] x) => (float[4096,4096] y) <int64[2] e = {4096, 4096}, float[1] a = {1}> {"
      "  [big] b = Expand (a, e) [m] y = Mul (x, b) }");
  EXPECT_EQ(nodesOf(model), "big m");
}

TEST(Prepare, NoOpsGoWhereTypesProveIt) {
  const Model model = preparedText(
      "g (float[2,n] x) => (float[2,n] y) <int64[2] s = {0, 0}, int64[2] z = {0, 0}> {"
      "  [c] a = Cast <to=1> (x) [t] b = Transpose <perm=[0,1]> (a) [p] d = Relu (b) [u] e = Transpose <perm=[1,0]> (d)"
      "  [v] y = Transpose <perm=[1,0]> (e) }");
  EXPECT_EQ(nodesOf(model), "p u v");
  EXPECT_EQ(countCode(model, "normalise.noop_removed"), 2U);
}

TEST(Prepare, TakingPositiveZeroAwayIsNoOp) {
  const Model model = preparedText(
      "g (float[2,n] x) => (float[2,n] y, float[1,2,n] v) <float z = {0}, float m = {-0.0}, float[1,1,1] w = {0}> {"
      "  [zero] a = Sub (x, z) [negative] b = Sub (a, m) [other] y = Sub (z, b) [wider] c = Sub (x, w) [abs] v = Abs "
      "(c) }");
  EXPECT_EQ(nodesOf(model), "negative other wider abs");
}

TEST(Prepare, DeadNodesGo) {
  const Model model =
      preparedText("g (float[2] x) => (float[2] y) { [r] y = Relu (x) [a] b = Neg (x) [c] d = Abs (b) }");
  EXPECT_EQ(nodesOf(model), "r");
  EXPECT_EQ(countCode(model, "normalise.dead"), 2U);
  EXPECT_FALSE(model.graph->findValue("b").has_value());
}

TEST(Prepare, EveryValueIsTyped) {
  const Model model =
      preparedText("g (float[n,3,8,8] x) => (float[n,m] y) { c = Conv (x, w) f = Flatten (c) y = Relu (f) }",
                   weightlessInitializer("w", {4, 3, 3, 3}));
  EXPECT_EQ(model.graph->value(*model.graph->findValue("c")).type.text(), "f32[n, 4, 6, 6]");
}

TEST(Prepare, StepsCanBeSkippedAndStoppedAt) {
  const auto imported =
      importText("g (float[2] x) => (float[2] y) { [i] a = Identity (x) [r] y = Relu (a) [n] b = Neg (x) }");
  ASSERT_TRUE(imported.ok());
  EXPECT_EQ(
      preparePipeline().names(),
      (std::vector<std::string>{"inline_branches", "remove_identities", "einsum_products", "fold_constants",
                                "dequantize_parameters", "constant_shapes", "work_on_rows", "move_codes",
                                "remove_noops", "remove_dead", "copy_dequantize", "infer_types", "prepare_bodies"}));
  Model skipped = imported.value();
  ASSERT_TRUE(preparePipeline().run(skipped, {.skip = {"remove_identities"}}).ok());
  EXPECT_EQ(nodesOf(skipped), "i r");
  Model stopped = imported.value();
  const auto records = preparePipeline().run(stopped, {.stopAfter = "remove_identities"});
  ASSERT_TRUE(records.ok());
  ASSERT_EQ(records.value().size(), 2U);
  EXPECT_FALSE(records.value()[0].changed) << records.value()[0].name;
  EXPECT_TRUE(records.value()[1].changed);
  EXPECT_EQ(records.value()[1].decisions, 1U);
  EXPECT_EQ(nodesOf(stopped), "r n");
}

TEST(Prepare, CancellationIsReported) {
  std::stop_source source;
  source.request_stop();
  const auto imported = importText("g (float[2] x) => (float[2] y) { y = Relu (x) }");
  ASSERT_TRUE(imported.ok());
  const auto prepared = prepareModel(imported.value(), source.get_token());
  ASSERT_FALSE(prepared.ok());
  EXPECT_TRUE(prepared.error().cancelled);
}

/// Each node of the file is in the graph, or the subject of exactly one normalise decision. Preparing again changes
/// nothing.
void expectAccountedFor(const Model& imported, const std::string& what) {
  const auto prepared = prepareModel(imported);
  ASSERT_TRUE(prepared.ok()) << what << ": " << prepared.error().text();
  const Model& model = prepared.value();
  std::map<std::string, int> seen;
  std::set<std::uint32_t> present;
  for (const NodeId id : model.graph->order())
    for (const OriginId origin : model.graph->node(id).origins) present.insert(origin.index);
  for (const std::uint32_t origin : present) ++seen[model.origins[origin].name];
  for (const Decision& decision : model.decisions)
    if (decision.kind == DecisionKind::Normalise)
      for (const Subject& subject : decision.subjects) ++seen[subject.text()];
  for (const Origin& origin : model.origins) EXPECT_EQ(seen[origin.name], 1) << what << ": " << origin.name;
  EXPECT_EQ(seen.size(), model.origins.size());

  const auto again = prepareModel(model);
  ASSERT_TRUE(again.ok()) << what << ": " << again.error().text();
  EXPECT_EQ(printGraph(*again.value().graph), printGraph(*model.graph)) << what;
  EXPECT_EQ(again.value().decisions.size(), model.decisions.size()) << what;
}

TEST(Prepare, EveryNodeOfEverySampleIsAccountedFor) {
  for (const auto& entry : std::filesystem::directory_iterator(samplesFolder())) {
    const auto imported = importModel(entry.path() / "model.onnx");
    ASSERT_TRUE(imported.ok()) << imported.error().text();
    expectAccountedFor(imported.value(), entry.path().filename());
  }
}

TEST(Prepare, EveryNodeOfTheZooIsAccountedFor) {
  if (!std::filesystem::is_directory(zooFolder())) GTEST_SKIP() << "the zoo is not at " << zooFolder();
  for (const auto& entry : std::filesystem::recursive_directory_iterator(zooFolder())) {
    if (entry.path().extension() != ".onnx") continue;
    const auto imported = importModel(entry.path());
    ASSERT_TRUE(imported.ok()) << imported.error().text();
    expectAccountedFor(imported.value(), entry.path().parent_path().filename());
  }
}

/// What each node of `model` reads first, in order: "node:type …".
std::string firstOperands(const Model& model) {
  std::string text;
  for (const NodeId id : model.graph->order()) {
    const Node& node = model.graph->node(id);
    text += (text.empty() ? "" : " ") + node.name + ":" + model.graph->value(node.input(0)).type.text();
  }
  return text;
}

TEST(MoveCodes, IntegersAreMovedInsteadOfNumbers) {
  const Model model = preparedText(
      "g (int8[2,8] q) => (float[2,4,2] y, int8[8,2] r)"
      "  <float s = {0.5}, int8 z = {1}, int64[3] shape = {2,2,4}, int64[2] flat = {8,2}> {"
      "  [d] a = DequantizeLinear (q, s, z) [v] b = Reshape (a, shape) [t] c = Transpose <perm = [0,2,1]> (b)"
      "  [e] y = Relu (c) [w] f = Reshape (y, flat) [k] r = QuantizeLinear (f, s, z) }");
  EXPECT_EQ(countCode(model, "normalise.codes_moved"), 2U);
  EXPECT_EQ(firstOperands(model),
            "v:int8[2, 8] t:int8[2, 2, 4] d:int8[2, 4, 2] e:f32[2, 4, 2] k:f32[2, 4, 2] w:int8[2, 4, 2]");
  EXPECT_FALSE(model.graph->findValue("b").has_value()) << "a name of the file is what the file says, or is not there";
  EXPECT_EQ(model.graph->value(model.graph->outputs()[1]).name, "r");
  const auto again = prepareModel(model);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(printGraph(*again.value().graph), printGraph(*model.graph)) << "a second run finds nothing to do";
}

TEST(MoveCodes, OtherReadersKeepTheNumbers) {
  const Model model = preparedText(
      "g (uint8[2,8] q) => (float[8,2] y, float[2,8] u, float[4,4] v)"
      "  <float s = {0.5}, uint8 z = {1}, int64[2] shape = {4,4}> {"
      "  [d] a = DequantizeLinear (q, s, z) [p] b = Transpose (a) [t] y = Transpose <perm = [0,1]> (b)"
      "  [m] u = Relu (a) [w] v = Reshape (b, shape) }");
  EXPECT_EQ(countCode(model, "normalise.codes_moved"), 1U);
  const Graph& graph = *model.graph;
  for (const NodeId id : graph.order()) {
    if (!graph.node(id).is("DequantizeLinear")) continue;
    EXPECT_EQ(graph.node(id).origins, graph.node(*graph.findNode("d")).origins) << "it stands for the same node";
  }
  for (const char* moves : {"p", "w"})
    EXPECT_EQ(graph.value(graph.node(*graph.findNode(moves)).input(0)).type.dtype, DataType::U8) << moves;
}

TEST(MoveCodes, WhatPicksIsPassedByADequantizeLinearAlone) {
  const Model model = preparedText(
      "g (uint8[4,8] q) => (float[8] y, uint8[8] r) <float s = {0.5}, uint8 z = {1}, int64 one = {1}> {"
      "  [d] a = DequantizeLinear (q, s, z) [g] y = Gather (a, one) [e] b = Relu (a) [h] c = Gather (b, one)"
      "  [k] r = QuantizeLinear (c, s, z) }");
  EXPECT_EQ(countCode(model, "normalise.codes_moved"), 1U);
  const Graph& graph = *model.graph;
  EXPECT_EQ(graph.value(graph.node(*graph.findNode("g")).input(0)).name, "q");
  EXPECT_EQ(graph.value(graph.node(*graph.findNode("k")).input(0)).name, "c");
}

TEST(MoveCodes, CodesThatAreOnlyMovedAreNotQuantisedAgain) {
  const auto codes = [](const std::string& scale) {
    const Model model =
        preparedText("g (int8[2,8] q) => (int8[8,2] r) <float s = {0.5}, float t = {" + scale +
                     "}, int8 z = {1}> {"
                     "  [d] a = DequantizeLinear (q, s, z) [m] b = Transpose (a) [k] r = QuantizeLinear (b, t, z) }");
    return nodesOf(model);
  };
  EXPECT_EQ(codes("0.5"), "m");
  EXPECT_EQ(codes("0.25"), "m d k") << "another scale";
}

TEST(MoveCodes, ScalesOfAnAxisStay) {
  const Model model = preparedText(
      "g (int8[2,8] q) => (float[8,2] y) <float[2] s = {0.5,2}, int8[2] z = {1,2}> {"
      "  [d] a = DequantizeLinear <axis = 0> (q, s, z) [t] y = Transpose (a) }");
  EXPECT_EQ(countCode(model, "normalise.codes_moved"), 0U);
  EXPECT_EQ(nodesOf(model), "d t");
}

TEST(CopyDequantize, EachKernelGetsItsOwn) {
  const Model model = preparedText(
      "g (int8[4,4] q) => (float[4,4] y, float[4,4] z, float[4,4] u) <float s = {0.5}> {"
      "  [d] x = DequantizeLinear (q, s) [a] y = Softmax (x) [b] z = LogSoftmax (x) [c] u = MatMul (x, x) }");
  EXPECT_EQ(countCode(model, "normalise.dequantize_copied"), 1U);
  const Graph& graph = *model.graph;
  std::set<NodeId> producers;
  for (const std::string name : {"a", "b", "c"}) {
    const NodeId producer = graph.value(graph.node(*graph.findNode(name)).input(0)).producer;
    EXPECT_TRUE(graph.node(producer).is("DequantizeLinear"));
    EXPECT_EQ(graph.node(producer).origins, graph.node(*graph.findNode("d")).origins) << "it stands for the same node";
    producers.insert(producer);
  }
  EXPECT_EQ(producers.size(), 3U);
  const auto again = prepareModel(model);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(printGraph(*again.value().graph), printGraph(graph)) << "a second run finds nothing to do";
}

TEST(CopyDequantize, ArithmeticThatBelongsTogetherGoesOnSharing) {
  const Model model = preparedText(
      "g (int8[4,4] q) => (float[4,4] y) <float s = {0.5}> {"
      "  [d] x = DequantizeLinear (q, s) [a] e = Sigmoid (x) [b] y = Mul (x, e) }");
  EXPECT_EQ(countCode(model, "normalise.dequantize_copied"), 0U);
  EXPECT_EQ(nodesOf(model), "d a b");
}

TEST(CopyDequantize, AConstantIsDequantisedForEachReader) {
  const Model model = preparedText(
      "g (float[4,4] x) => (float[4,4] y) <int8[4] w = {1,2,3,4}, float s = {0.5}> {"
      "  [d] b = DequantizeLinear (w, s) [a] e = Mul (x, b) [m] p = MatMul (e, e) [c] y = Mul (p, b) }");
  EXPECT_EQ(countCode(model, "normalise.dequantize_copied"), 1U);
  const Graph& graph = *model.graph;
  const auto bias = [&](const char* name) { return graph.value(graph.node(*graph.findNode(name)).input(1)).producer; };
  EXPECT_TRUE(graph.node(bias("a")).is("DequantizeLinear"));
  EXPECT_NE(bias("a"), bias("c"));
}

TEST(CopyDequantize, AnOutputOfTheNetworkKeepsTheOriginal) {
  const Model model = preparedText(
      "g (int8[4,4] q) => (float[4,4] x, float[4,4] y) <float s = {0.5}> {"
      "  [d] x = DequantizeLinear (q, s) [a] y = Softmax (x) }");
  EXPECT_EQ(countCode(model, "normalise.dequantize_copied"), 1U);
  const Graph& graph = *model.graph;
  EXPECT_EQ(graph.node(graph.value(graph.outputs()[0]).producer).name, "d");
  EXPECT_NE(graph.value(graph.node(*graph.findNode("a")).input(0)).producer, *graph.findNode("d"));
}

TEST(InferShapes, SpecialisesOpenExtents) {
  const auto imported = importModel(samplesFolder() / "tiny_resnet_dynbatch/model.onnx");
  ASSERT_TRUE(imported.ok());
  const auto prepared = prepareModel(imported.value());
  ASSERT_TRUE(prepared.ok()) << prepared.error().text();
  const Graph& graph = *prepared.value().graph;
  const auto types = inferShapes(graph, {{"x", {7, 3, 64, 64}}});
  ASSERT_TRUE(types.ok()) << types.error().text();
  for (const ValueId id : graph.allValues())
    EXPECT_TRUE(types.value()[id.index].shape.fixed().has_value()) << graph.value(id).name;
  EXPECT_EQ(types.value()[graph.outputs()[0].index].shape.fixed()->at(0), 7);
}

}  // namespace
}  // namespace fusescope::test
