#include <gtest/gtest.h>

#include <algorithm>

#include "passes/pipelines.h"
#include "tests/unit/frontends/onnx_files.h"

namespace fusescope::test {
namespace {

const Node& nodeCalled(const Model& model, std::string_view name) {
  const auto id = model.graph->findNode(name);
  EXPECT_TRUE(id.has_value()) << name;
  return model.graph->node(*id);
}

std::vector<std::int64_t> constantInput(const Model& model, const Node& node, std::size_t slot) {
  const Tensor* tensor = node.input(slot).valid() ? model.graph->constantData(node.input(slot)) : nullptr;
  EXPECT_NE(tensor, nullptr);
  return tensor == nullptr ? std::vector<std::int64_t>() : int64Values(*tensor);
}

TEST(OnnxImport, NamesFollowTheRule) {
  const auto model = importText(
      "g (float[2] x) => (float[2] d) { [same] a = Relu (x) [same] b = Neg (a) c = Abs (b) [same] d = Exp (c) }");
  ASSERT_TRUE(model.ok()) << model.error().text();
  std::vector<std::string> names;
  for (const Origin& origin : model.value().origins) names.push_back(origin.name);
  EXPECT_EQ(names, (std::vector<std::string>{"same", "same#2", "node_of_c", "same#3"}));
  EXPECT_EQ(model.value().fileNodes, 4);
  EXPECT_EQ(nodeCalled(model.value(), "node_of_c").op, "Abs");
  EXPECT_EQ(nodeCalled(model.value(), "node_of_c").origins, std::vector<OriginId>{OriginId(2)});
}

TEST(OnnxImport, NodesKeepTheModuleThatTheExporterNames) {
  const auto moduleBy = [](const std::string& key, const std::string& value) {
    const std::string entry = wireField(9, wireField(1, key) + wireField(2, value));
    const std::string node = wireField(1, "x") + wireField(2, "a") + wireField(3, "n") + wireField(4, "Neg") + entry;
    const auto model =
        importBytes(onnxBytes("g (float[2] x) => (float[2] y) { y = Relu (a) }") + wireField(7, wireField(1, node)));
    EXPECT_TRUE(model.ok()) << model.error().text();
    return model.ok() ? model.value().origins.at(1).module : std::string();
  };
  EXPECT_EQ(moduleBy("pkg.torch.onnx.name_scopes", "['', 'layer', 'layer.0', 'neg']"), "layer.0");
  EXPECT_EQ(moduleBy("namespace", ": Net/layer: Stack/layer.0: Block/neg: aten.neg"), "layer.0");
  EXPECT_EQ(moduleBy("pkg.torch.onnx.name_scopes", "['', 'neg']"), "") << "the outermost module";
  EXPECT_EQ(moduleBy("namespace", "neg"), "");
  EXPECT_EQ(moduleBy("pkg.torch.onnx.name_scopes", "['', 'layer"), "") << "a list cut short";
  EXPECT_EQ(moduleBy("author", "layer.0"), "");
}

TEST(OnnxImport, WhatIsNotReadIsSaid) {
  const auto says = [](const Result<Model>& model, std::string_view code) {
    EXPECT_TRUE(model.ok()) << model.error().text();
    return model.ok() &&
           std::ranges::find(model.value().decisions, code, &Decision::code) != model.value().decisions.end();
  };
  // An attribute of kind TENSORS: field 20 says 9.
  const std::string attribute = wireField(1, "many") + std::string("\xA0\x01\x09", 3);
  const std::string node = wireField(1, "x") + wireField(2, "a") + wireField(3, "n") + wireField(4, "Odd") +
                           wireField(5, attribute) + wireField(7, "vendor");
  const std::string graph = "g (float[2] x) => (float[2] y) { y = Relu (x) }";
  EXPECT_TRUE(says(importBytes(onnxBytes(graph, 18, ", \"vendor\" : 1") + wireField(7, wireField(1, node))),
                   "import.attribute_dropped"));
  EXPECT_TRUE(says(importBytes(onnxBytes(graph, 99)), "import.newer_opset"));
  EXPECT_FALSE(says(importBytes(onnxBytes(graph)), "import.newer_opset"));
}

TEST(OnnxImport, UnsortedGraphsAreSorted) {
  const auto model = importText("g (float[2] x) => (float[2] y) { [last] y = Relu (a) [first] a = Neg (x) }");
  ASSERT_TRUE(model.ok()) << model.error().text();
  const Graph& graph = *model.value().graph;
  EXPECT_EQ(graph.node(graph.order()[0]).name, "first");
  EXPECT_EQ(model.value().origins[0].name, "last");
}

TEST(OnnxImport, ConstantNodesBecomeConstants) {
  const auto model = importText(
      "g (float[2] x) => (float[2] y) { [one] c = Constant <value_floats=[1.0, 2.0]> () [add] y = Add (x, c) }");
  ASSERT_TRUE(model.ok()) << model.error().text();
  EXPECT_EQ(model.value().graph->nodeCount(), 1U);
  ASSERT_EQ(countCode(model.value(), "normalise.constant_node"), 1U);
  const Tensor* c = model.value().graph->constantData(*model.value().graph->findValue("c"));
  ASSERT_NE(c, nullptr);
  EXPECT_EQ(c->asDouble(1), 2.0);
}

TEST(OnnxImport, OlderFormsAreAdapted) {
  const auto reduce = importText("g (float[2,3] x) => (float[2,1] y) { [r] y = ReduceMean <axes=[1]> (x) }", 13);
  ASSERT_TRUE(reduce.ok()) << reduce.error().text();
  EXPECT_EQ(constantInput(reduce.value(), nodeCalled(reduce.value(), "r"), 1), std::vector<std::int64_t>{1});
  EXPECT_FALSE(nodeCalled(reduce.value(), "r").hasAttribute("axes"));

  const auto split = importText("g (float[4] x) => (float[2] a, float[2] b) { [s] a, b = Split (x) }", 13);
  ASSERT_TRUE(split.ok()) << split.error().text();
  EXPECT_EQ(nodeCalled(split.value(), "s").intAttribute("num_outputs", 0), 2);

  const auto grid = importText(
      "g (float[1,1,4,4] x, float[1,2,2,2] p) => (float[1,1,2,2] y) { [s] y = GridSample <mode=\"bilinear\"> (x, p) }",
      16);
  ASSERT_TRUE(grid.ok()) << grid.error().text();
  EXPECT_EQ(nodeCalled(grid.value(), "s").textAttribute("mode", ""), "linear");

  const auto group = importText(
      "g (float[1,4,2] x, float[2] s, float[2] b) => (float[1,4,2] y)"
      "{ [gn] y = GroupNormalization <num_groups=2> (x, s, b) }",
      18);
  ASSERT_TRUE(group.ok()) << group.error().text();
  const auto prepared = prepareModel(group.value());
  ASSERT_TRUE(prepared.ok()) << prepared.error().text();
  const auto y = prepared.value().graph->findValue("y");
  ASSERT_TRUE(y.has_value());
  EXPECT_EQ(prepared.value().graph->value(*y).type.text(), "f32[1, 4, 2]");
}

TEST(OnnxImport, LocalFunctionsAreInlinedUnderTheirCall) {
  const auto model = importText(
      "g (float[2] x) => (float[2] y) { [call] y = local.twice <k=3.0> (x) }\n"
      "<domain: \"local\", opset_import: [\"\" : 18]>\n"
      "twice <k> (a) => (b) { c = Constant <value_float:float=@k> () d = Mul (a, c) b = Add (d, d) }",
      18, ", \"local\" : 1");
  ASSERT_TRUE(model.ok()) << model.error().text();
  const Graph& graph = *model.value().graph;
  ASSERT_EQ(graph.nodeCount(), 2U);
  for (const NodeId id : graph.order()) {
    EXPECT_EQ(graph.node(id).origins, std::vector<OriginId>{OriginId(0)});
    EXPECT_TRUE(graph.node(id).name.starts_with("call/")) << graph.node(id).name;
  }
  EXPECT_EQ(countCode(model.value(), "import.function_inlined"), 1U);
  EXPECT_EQ(graph.value(graph.node(graph.order()[0]).inputs[1]).constant->asDouble(0), 3.0);
}

TEST(OnnxImport, UnknownOperatorsStayWithDeclaredTypes) {
  const auto model =
      importText("g (float[2] x) => (float[7] y) { [odd] y = vendor.Odd <depth=3> (x) }", 18, ", \"vendor\" : 1");
  ASSERT_TRUE(model.ok()) << model.error().text();
  const auto prepared = prepareModel(model.value());
  ASSERT_TRUE(prepared.ok()) << prepared.error().text();
  const Node& node = nodeCalled(prepared.value(), "odd");
  EXPECT_EQ(node.domain, "vendor");
  EXPECT_EQ(node.intAttribute("depth", 0), 3);
  EXPECT_EQ(prepared.value().graph->value(node.outputs[0]).type.text(), "f32[7]");
}

TEST(OnnxImport, ATreeEnsembleMayFollowAnUnknownOperator) {
  const auto model = importText(
      "g (float[2, 3] x) => (float[2, 1] y) { h = com.example.Unknown (x) [trees] y = ai.onnx.ml.TreeEnsemble "
      "<nodes_featureids = [0], nodes_truenodeids = [0], nodes_falsenodeids = [0], nodes_trueleafs = [1], "
      "nodes_falseleafs = [1], leaf_targetids = [0], tree_roots = [0], nodes_splits = float[1] {0.5}, "
      "nodes_modes = uint8[1] {0}, leaf_weights = float[1] {1.0}> (h) }",
      18, ", \"ai.onnx.ml\" : 5, \"com.example\" : 1");
  ASSERT_TRUE(model.ok()) << model.error().text();
  EXPECT_EQ(nodeCalled(model.value(), "trees").op, "TreeEnsemble");
}

TEST(OnnxImport, SubgraphsCaptureWhatTheyRead) {
  const auto model = importText(
      "g (bool c, float[2] x) => (float[2] y) {"
      "  [if] y = If (c) <then_branch = t () => (float[2] a) { a = Relu (x) },"
      "                   else_branch = e () => (float[2] b) { b = Neg (x) }> }");
  ASSERT_TRUE(model.ok()) << model.error().text();
  const Node& node = nodeCalled(model.value(), "if");
  const auto& body = std::get<Subgraph>(node.attributes.at("then_branch"));
  ASSERT_EQ(body.captures.size(), 1U);
  EXPECT_EQ(model.value().graph->value(body.captures[0]).name, "x");
  ASSERT_EQ(body.graph->inputs().size(), 1U);
  EXPECT_EQ(body.graph->value(body.graph->inputs()[0]).name, "x");
  EXPECT_EQ(model.value().fileNodes, 1);
}

TEST(OnnxImport, OpenExtentsAreAssumed) {
  const auto model = importText("g (float[batch,3] x, float[2] z) => (float[batch,3] y) { y = Relu (x) }");
  ASSERT_TRUE(model.ok()) << model.error().text();
  const auto& specs = model.value().inputSpecs;
  ASSERT_EQ(specs.size(), 2U);
  EXPECT_EQ(specs[0].source, "assumed");
  EXPECT_EQ(specs[0].min, (Dims{1, 3}));
  EXPECT_EQ(specs[0].opt, (Dims{1, 3}));
  EXPECT_GT(specs[0].max[0], 7);
  EXPECT_EQ(specs[1].source, "file");
  EXPECT_TRUE(specs[1].fixed());
  EXPECT_EQ(model.value().graph->value(model.value().graph->inputs()[0]).type.text(), "f32[batch, 3]");
}

TEST(OnnxImport, AQuestionMarkNamesNoExtent) {
  std::string bytes = onnxBytes("g (float[q,z] x) => (float[q,z] y) { y = Relu (x) }");
  for (char& letter : bytes)
    if (letter == 'q' || letter == 'z') letter = '?';
  const auto model = importBytes(bytes);
  ASSERT_TRUE(model.ok()) << model.error().text();
  const auto& dims = model.value().graph->value(model.value().graph->inputs()[0]).type.shape.dims;
  ASSERT_EQ(dims.size(), 2U);
  EXPECT_TRUE(dims[0].symbol.empty() || dims[0].symbol != dims[1].symbol) << "the two need not be equal";
}

TEST(OnnxImport, WeightsWithoutDataOpen) {
  const auto model =
      importBytes(onnxBytes("g (float[2] x) => (float[2] y) { y = Add (x, w) }") + weightlessInitializer("w", {2}));
  ASSERT_TRUE(model.ok()) << model.error().text();
  EXPECT_TRUE(model.value().weightless);
  EXPECT_EQ(model.value().parameters, 2);
  EXPECT_EQ(model.value().weightBytes, 8);
}

TEST(OnnxImport, LargeWeightsAreTheBytesOfTheFile) {
  const auto model = importModel(samplesFolder() / "squeezenet1_1/model.onnx");
  ASSERT_TRUE(model.ok()) << model.error().text();
  const Graph& graph = *model.value().graph;
  const std::string whole = fileBytes(samplesFolder() / "squeezenet1_1/model.onnx");
  std::size_t large = 0;
  for (const ValueId id : graph.allValues()) {
    const Tensor* tensor = graph.constantData(id);
    if (tensor == nullptr || tensor->byteSize() < 4096) continue;
    ++large;
    EXPECT_NE(whole.find(std::string(reinterpret_cast<const char*>(tensor->bytes()), tensor->byteSize())),
              std::string::npos);
  }
  EXPECT_GT(large, 10U);
}

TEST(OnnxImport, ElementsOfWeightsCanBeReadInPlace) {
  std::size_t weights = 0;
  for (const char* sample : {"bert_tiny", "squeezenet1_1", "long_double"}) {  // their files hold weights at any address
    const auto model = importModel(samplesFolder() / sample / "model.onnx");
    ASSERT_TRUE(model.ok()) << model.error().text();
    const Graph& graph = *model.value().graph;
    for (const ValueId id : graph.allValues()) {
      const Tensor* tensor = graph.constantData(id);
      if (tensor == nullptr || tensor->bytes() == nullptr) continue;
      ++weights;
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor->data<std::byte>().data()) % byteSize(tensor->type(), 1), 0U)
          << graph.value(id).name;
    }
  }
  EXPECT_GT(weights, 50U);
}

TEST(OnnxImport, ContentHashIsOfTheStructureNotOfLargeWeights) {
  const std::string graph = "g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add (x, w) }";
  const std::string other = "g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Mul (x, w) }";
  EXPECT_EQ(importText(graph).value().contentHash, importText(graph).value().contentHash);
  EXPECT_NE(importText(graph).value().contentHash, importText(other).value().contentHash);
}

TEST(OnnxImport, TheZooOpensAndIsPrepared) {
  const auto zoo = zooFolder();
  if (!std::filesystem::is_directory(zoo)) GTEST_SKIP() << "the zoo is not at " << zoo;
  int opened = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(zoo)) {
    if (entry.path().extension() != ".onnx") continue;
    const auto model = importModel(entry.path());
    ASSERT_TRUE(model.ok()) << model.error().text();
    const auto prepared = prepareModel(model.value());
    ASSERT_TRUE(prepared.ok()) << prepared.error().text();
    EXPECT_EQ(model.value().weightless, entry.path().string().find("weightless") != std::string::npos);
    ++opened;
  }
  EXPECT_GE(opened, 25) << "the zoo had as many when this was written";
}

}  // namespace
}  // namespace fusescope::test
