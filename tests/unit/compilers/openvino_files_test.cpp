// What OpenVINO writes: XML, execution graphs, the network as it was imported.
#include <gtest/gtest.h>

#include <fstream>

#include "base/files.h"
#include "compilers/openvino/execution_graph.h"
#include "compilers/openvino/imported_network.h"
#include "compilers/openvino/layer_kinds.h"
#include "compilers/openvino/layer_nodes.h"
#include "compilers/openvino/openvino_read_back.h"
#include "compilers/openvino/openvino_support.h"
#include "compilers/openvino/xml_reader.h"
#include "tests/support/paths.h"
#include "tests/unit/compilers/file_graphs.h"

namespace fusescope {
namespace {

/// "+net(name=a) text -net": what is read of a text; "error: …" at its end where it is refused.
std::string events(std::string_view xml) {
  XmlReader reader(xml);
  std::string text;
  while (true) {
    const auto read = reader.next();
    if (!read.ok()) return text + "error: " + read.error().message;
    const XmlReader::Event& event = *read.value();
    if (event.kind == XmlReader::Kind::Finished) return text;
    if (event.kind == XmlReader::Kind::Text) text += event.text + " ";
    if (event.kind == XmlReader::Kind::End) text += "-" + std::string(event.name) + " ";
    if (event.kind != XmlReader::Kind::Start) continue;
    text += "+" + std::string(event.name);
    for (const auto& [name, value] : event.attributes) text += "(" + std::string(name) + "=" + value + ")";
    text += " ";
  }
}

TEST(Xml, OfElementsAttributesAndText) {
  EXPECT_EQ(events("<?xml version=\"1.0\"?>\n<a x=\"1\" y = '2'>\n <!-- no <b> --><c/> 64 </a>\n"),
            "+a(x=1)(y=2) +c -c 64 -a ");
  EXPECT_EQ(events("<a x=\"&lt;&amp;&quot;&#65;&#x20AC;\">&gt;</a>"), "+a(x=<&\"A€) > -a ");
}

TEST(Xml, RefusesWhatIsNone) {
  for (const char* wrong : {"", "text", "<a>", "<a></b>", "</a>", "<a/><b/>", "<a x=1/>", "<a x=\"1/>", "<a x\"1\"/>",
                            "<ax=\"1\"y=\"2\"/>", "<a>&nbsp;</a>", "<a>&#x110000;</a>", "<a>&#xD800;</a>",
                            "<!DOCTYPE a [<!ENTITY b \"c\">]><a/>", "<a><![CDATA[x]]></a>", "<a", "<", "<a /", "<!-- "})
    EXPECT_NE(events(wrong).find("error: line 1: "), std::string::npos) << wrong << " gives " << events(wrong);
  std::string deep;
  for (std::size_t i = 0; i <= XmlReader::kMostDepth; ++i) deep += "<a>";
  EXPECT_NE(events(deep).find("deep"), std::string::npos);
}

TEST(Xml, AnErrorNamesTheLine) {
  EXPECT_EQ(events("<a>\n<b>\n</c></a>"), "+a +b error: line 3: this is the end of an element that did not start");
}

std::string layer(int id, const std::string& name, const std::string& type, int order, const std::string& more = "",
                  const std::string& data = "") {
  return "<layer id=\"" + std::to_string(id) + "\" name=\"" + name + "\" type=\"" + type + "\"><data execOrder=\"" +
         std::to_string(order) + "\" originalLayersNames=\"" + name + "\" " + data + "/>" + more + "</layer>";
}
const std::string kIn = "<input><port id=\"0\" precision=\"FP32\"><dim>2</dim></port></input>";
const std::string kOut = "<output><port id=\"1\" precision=\"FP32\"><dim>2</dim><dim>-1</dim></port></output>";

TEST(ExecutionGraphs, OfLayersInTheOrderInWhichTheyRun) {
  const auto graph = executionGraph(
      "<net><layers>" +
      layer(7, "b", "Softmax", 1, kIn + kOut,
            "outputPrecisions=\"bf16\" outputLayouts=\"ab\" execTimeMcs=\"12\" primitiveType=\"jit_avx512_bf16\"") +
      layer(3, "a", "Input", 0, kOut, "outputPrecisions=\"f32\" execTimeMcs=\"not_executed\"") +
      "</layers><edges><edge from-layer=\"3\" from-port=\"1\" to-layer=\"7\" to-port=\"0\"/></edges></net>");
  ASSERT_TRUE(graph.ok()) << graph.error().text();
  ASSERT_EQ(graph.value().layers.size(), 2U);
  const ExecutionLayer& softmax = graph.value().layers[1];
  EXPECT_EQ(softmax.name, "b");
  EXPECT_EQ(softmax.sources[0].layer, 0U);
  EXPECT_EQ(softmax.outputs[0].type, DataType::BF16) << "the port says FP32, which means less";
  EXPECT_EQ(softmax.outputs[0].layout, "ab");
  EXPECT_EQ(softmax.outputs[0].elements(), std::nullopt) << "an extent is open";
  EXPECT_EQ(softmax.inputs[0].elements(), 2);
  EXPECT_EQ(softmax.ms, 0.012);
  EXPECT_EQ(graph.value().layers[0].ms, std::nullopt);
}

TEST(ExecutionGraphs, RefusesWhatIsNone) {
  const auto wrong = [](const std::string& xml) {
    const auto graph = executionGraph(xml);
    return graph.ok() ? std::string() : graph.error().message;
  };
  const std::string one = layer(0, "a", "Input", 0, kOut);
  EXPECT_NE(wrong("<model/>"), "");
  EXPECT_NE(wrong("<net/>"), "") << "no layers";
  EXPECT_NE(wrong("<net><layers>" + one + one + "</layers></net>"), "") << "an id twice";
  EXPECT_NE(wrong("<net><layers><layer name=\"a\"/></layers></net>"), "") << "no id";
  EXPECT_NE(wrong("<net><layers>" + one +
                  "</layers><edges><edge from-layer=\"0\" from-port=\"1\" to-layer=\"5\" "
                  "to-port=\"0\"/></edges></net>"),
            "");
  EXPECT_NE(wrong("<net><layers>" + one +
                  "</layers><edges><edge from-layer=\"0\" from-port=\"9\" to-layer=\"0\" "
                  "to-port=\"0\"/></edges></net>"),
            "");
  EXPECT_NE(wrong("<net><layers>" + layer(0, "a", "Input", 0, "<output><port id=\"0\"><dim>x</dim></port></output>") +
                  "</layers></net>"),
            "");
}

TEST(ExecutionGraphs, WhatIsMadeOfConstantsRunsOnce) {
  const auto graph =
      executionGraph("<net><layers>" + layer(0, "w", "Const", 0, kOut) +
                     layer(1, "t", "Transpose", 1, kIn + kOut, "execTimeMcs=\"90\"") + layer(2, "x", "Input", 2, kOut) +
                     layer(3, "r", "Softmax", 3, kIn + kOut, "execTimeMcs=\"5\"") +
                     "</layers><edges><edge from-layer=\"0\" from-port=\"1\" to-layer=\"1\" to-port=\"0\"/>"
                     "<edge from-layer=\"2\" from-port=\"1\" to-layer=\"3\" to-port=\"0\"/></edges></net>");
  ASSERT_TRUE(graph.ok()) << graph.error().text();
  EXPECT_EQ(layerRoles(graph.value()),
            (std::vector<LayerRole>{LayerRole::Constant, LayerRole::Once, LayerRole::Border, LayerRole::Kernel}));
  EXPECT_EQ(openvinoTimes(graph.value()), (std::map<std::string, double>{{"Softmax_2", 0.005}}));
}

TEST(ImportedNetworks, ReadNothingThatComesLater) {
  const auto problem = [](const std::string& ops) {
    const auto network = importedNetwork(R"({"format":"fusescope.openvino_model","version":1,"ops":)" + ops + "}");
    return network.ok() ? std::string() : network.error().text();
  };
  EXPECT_EQ(problem(R"([{"name":"#0","type":"Parameter","outs":[["x"]],"ins":[]},
                        {"name":"#1","type":"Relu","outs":[["y"]],"ins":[["#0",0]]}])"),
            "");
  EXPECT_NE(problem(R"([{"name":"#1","type":"Relu","outs":[["y"]],"ins":[["#0",0]]}])"), "");
  EXPECT_NE(problem(R"([{"name":"#0","type":"Relu","outs":[["y"]],"ins":[["#0",0]]}])"), "") << "itself";
  EXPECT_NE(problem(R"([{"name":"#0","outs":[[]]},{"name":"#1","outs":[],"ins":[["#0",1]]}])"), "") << "no such output";
  EXPECT_NE(problem(R"([{"name":"#0","outs":[[1]]}])"), "");
  EXPECT_NE(problem("1"), "");
  EXPECT_FALSE(importedNetwork("{").ok());
  EXPECT_FALSE(importedNetwork(R"({"format":"fusescope.openvino_model","version":2,"ops":[]})").ok());
}

// OpenVINO recognises x * Clip(x + 3, 0, 6) / 6 and gives the operator a name of its own: the layer that names it last
// makes the quotient, and not the sum that it names before.
TEST(OpenvinoTensors, BehindAnActivationThatOpenvinoNamedItself) {
  const onnxlib::FileGraph file = testing::fileGraph(
      {"in x", "const w", "const three", "const six", "out y", "Conv n0 x w -> v0", "Add n1 v0 three -> v1",
       "Clip n2 v1 -> v2", "Mul n3 v0 v2 -> v3", "Div n4 v3 six -> v4", "Conv n5 v4 w -> y"});
  const auto network = importedNetwork(R"({"format":"fusescope.openvino_model","version":1,"ops":[
    {"name":"#0","type":"Parameter","ins":[],"outs":[["x"]]},
    {"name":"#1","type":"Constant","ins":[],"outs":[[]]},
    {"name":"#2","type":"Convolution","ins":[["#0",0],["#1",0]],"outs":[["v0"]]},
    {"name":"#3","type":"Add","ins":[["#2",0],["#1",0]],"outs":[["v1"]]},
    {"name":"#4","type":"Clamp","ins":[["#3",0]],"outs":[["v2"]]},
    {"name":"#5","type":"Multiply","ins":[["#2",0],["#4",0]],"outs":[["v3"]]},
    {"name":"#6","type":"Divide","ins":[["#5",0],["#1",0]],"outs":[["v4"]]},
    {"name":"#7","type":"Convolution","ins":[["#6",0],["#1",0]],"outs":[["y"]]},
    {"name":"#8","type":"Result","ins":[["#7",0]],"outs":[["y"]]}]})");
  ASSERT_TRUE(network.ok()) << network.error().text();
  const TensorGraph tensors(file);
  const OpNodes ops = opNodes(network.value(), tensors);
  const FileTensorFacts facts{std::vector<std::int64_t>(tensors.tensors().size(), -1), varyingTensors(tensors)};
  const auto made = [&](const std::vector<std::string>& names) {
    ExecutionGraph graph;
    graph.layers.resize(1);
    graph.layers[0] = {.name = "Multiply_1", .type = "Convolution", .originals = names, .outputs = {{}}};
    const std::uint32_t tensor = layerTensors(graph, network.value(), ops, facts).tensors[0][0];
    return tensor == LayerTensors::kNone ? std::string() : std::string(tensors.tensor(tensor).name);
  };
  EXPECT_EQ(made({"Multiply_1", "#2", "HSwish_2"}), "v4");
  EXPECT_EQ(made({"HSwish_2", "#2"}), "v0") << "the activation comes before the operator that is named last";
  EXPECT_EQ(made({"#2"}), "v0");
}

// A product with a bias and an open batch: OpenVINO turns the weights once, under the name of the product.
TEST(OpenvinoTensors, OfWhatRunsOnceAreNoneThatDependOnTheInput) {
  const onnxlib::FileGraph file =
      testing::fileGraph({"in x", "const w", "const b", "out y", "MatMul n0 x w -> v0", "Add n1 v0 b -> y"});
  const auto network = importedNetwork(R"({"format":"fusescope.openvino_model","version":1,"ops":[
    {"name":"#0","type":"Parameter","ins":[],"outs":[["x"]]},
    {"name":"#1","type":"Constant","ins":[],"outs":[["w"]]},
    {"name":"#2","type":"MatMul","ins":[["#0",0],["#1",0]],"outs":[["v0"]]},
    {"name":"#3","type":"Constant","ins":[],"outs":[["b"]]},
    {"name":"#4","type":"Add","ins":[["#2",0],["#3",0]],"outs":[["y"]]}]})");
  ASSERT_TRUE(network.ok()) << network.error().text();
  const TensorGraph tensors(file);
  const FileTensorFacts facts{std::vector<std::int64_t>(tensors.tensors().size(), -1), varyingTensors(tensors)};
  ExecutionGraph graph;
  graph.layers = {
      {.name = "#0", .type = "Input", .originals = {"#0"}, .outputs = {{}}},
      {.name = "#1", .type = "Const", .originals = {"#1"}, .outputs = {{}}},
      {.name = "#2/transpose_b",
       .type = "Transpose",
       .originals = {"#2/transpose_b"},
       .outputs = {{}},
       .sources = {{1, 0}}},
      {.name = "#4", .type = "FullyConnected", .originals = {"#4"}, .outputs = {{}}, .sources = {{0, 0}, {2, 0}}}};
  const OpNodes ops = opNodes(network.value(), tensors);
  const LayerTensors layers = layerTensors(graph, network.value(), ops, facts);
  EXPECT_EQ(layers.roles[2], LayerRole::Once);
  EXPECT_EQ(layers.tensors[2][0], LayerTensors::kNone);
  const std::vector<const Node*> nodes(2, nullptr);
  const LayerNodes held = layerNodes(graph, ops, layers, tensors, nodes);
  EXPECT_EQ(held.fates, (std::vector<Fate>{Fate::Kernel, Fate::Kernel}));
  ASSERT_EQ(held.held[3].size(), 2U);
  EXPECT_EQ(held.held[3][0].certainty, Certainty::Derived);
  EXPECT_EQ(held.held[3][1].certainty, Certainty::Named);
}

TEST(OpenvinoWords, NameTheNode) {
  EXPECT_EQ(nodeInError("While validating ONNX node '<Node(DepthToSpace): v7>': Check 'false' failed"), "v7");
  EXPECT_EQ(nodeInError("<Node(x> : "), "");
  EXPECT_EQ(nodeInError("out of memory"), "");
}

}  // namespace
}  // namespace fusescope
