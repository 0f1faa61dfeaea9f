#include "onnxlib/edited_network.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/files.h"
#include "ir/graph.h"
#include "tests/unit/frontends/onnx_files.h"

namespace fusescope::test {
namespace {

using onnxlib::FileNode;
using onnxlib::NetworkEdits;

/// The network's nodes and initializers as ONNX's text, a line each, after the edits.
std::string editedText(const std::string& graph, const NetworkEdits& edits, int opset = 18) {
  const TemporaryFolder folder;
  const auto path = folder.write("model.onnx", onnxBytes(graph, opset));
  const auto edited = onnxlib::editNetwork(path, edits, "out.onnx.data");
  if (!edited.ok()) return edited.error().message;
  const auto text = onnxlib::onnxBytesToText(edited.value().model);
  return text.ok() ? text.value() : text.error().text();
}

FileNode castNode(const std::string& from, const std::string& to, std::int64_t type) {
  return {.name = to, .op = "Cast", .inputs = {from}, .outputs = {to}, .attributes = {{.name = "to", .value = type}}};
}

constexpr const char* kTwoNodes =
    "net (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { [a] h = Relu(x) [b] y = Add(h, w) }";

TEST(NetworkEdits, WithoutEditsTheNetworkStaysAsItIs) {
  const TemporaryFolder folder;
  const std::string bytes = onnxBytes(kTwoNodes);
  const auto edited = onnxlib::editNetwork(folder.write("model.onnx", bytes), {}, "w");
  ASSERT_TRUE(edited.ok()) << edited.error().text();
  EXPECT_EQ(edited.value().model, bytes);
  EXPECT_TRUE(edited.value().weights.empty());
}

TEST(NetworkEdits, ANewNodeStandsBehindWhatMakesItsOperand) {
  NetworkEdits edits;
  edits.nodes.push_back({{}, castNode("h", "h_to_f16", 10)});
  edits.operands.push_back({{{}, 1}, 0, "h_to_f16"});
  const std::string text = editedText(kTwoNodes, edits);
  const auto relu = text.find("Relu"), cast = text.find("h_to_f16 = Cast <to: int = 10> (h)"),
             add = text.find("Add (h_to_f16, w)");
  EXPECT_NE(cast, std::string::npos) << text;
  EXPECT_LT(relu, cast) << text;
  EXPECT_LT(cast, add) << text;
}

TEST(NetworkEdits, QuantiseAndDequantiseOnAnEdge) {
  NetworkEdits edits;
  const float scale = 0.5F;
  onnxlib::FileTensor tensor{
      .name = "h_scale", .dtype = DataType::F32, .data = reinterpret_cast<const std::byte*>(&scale)};
  edits.initializers.push_back({{}, tensor});
  edits.nodes.push_back({{}, {.name = "q", .op = "QuantizeLinear", .inputs = {"h", "h_scale"}, .outputs = {"h_q"}}});
  edits.nodes.push_back(
      {{}, {.name = "d", .op = "DequantizeLinear", .inputs = {"h_q", "h_scale"}, .outputs = {"h_d"}}});
  edits.operands.push_back({{{}, 1}, 0, "h_d"});
  const TemporaryFolder folder;
  const auto edited = onnxlib::editNetwork(folder.write("model.onnx", onnxBytes(kTwoNodes)), edits, "w");
  ASSERT_TRUE(edited.ok());
  const auto model = importBytes(edited.value().model);
  ASSERT_TRUE(model.ok()) << model.error().text();
  const Graph& graph = *model.value().graph;
  const Node& add = graph.node(*graph.findNode("b"));
  EXPECT_EQ(graph.node(graph.value(add.inputs[0]).producer).op, "DequantizeLinear");
  EXPECT_EQ(graph.constantData(*graph.findValue("h_scale"))->asDouble(0), 0.5);
}

TEST(NetworkEdits, AnInitializerIsReplacedWithItsTypeAndUnreadOnesGo) {
  NetworkEdits edits;
  const std::uint16_t halves[2] = {0x3c00, 0x4000};
  const auto* data = reinterpret_cast<const std::byte*>(halves);
  edits.initializers.push_back({{}, {.name = "w", .dtype = DataType::F16, .dims = {2}, .data = data}});
  EXPECT_NE(editedText(kTwoNodes, edits).find("float16[2] w"), std::string::npos) << editedText(kTwoNodes, edits);

  edits.initializers[0].tensor.name = "w_f16";
  edits.operands.push_back({{{}, 1}, 1, "w_f16"});
  const std::string text = editedText(kTwoNodes, edits);
  EXPECT_NE(text.find("float16[2] w_f16"), std::string::npos) << text;
  EXPECT_EQ(text.find("float[2] w"), std::string::npos) << text;
}

TEST(NetworkEdits, AResultIsRenamedAndAnOutputRetyped) {
  NetworkEdits edits;
  edits.outcomes.push_back({{{}, 1}, 0, "y_f32"});
  edits.nodes.push_back({{}, castNode("y_f32", "y", 10)});
  edits.types.push_back({{}, "y", DataType::F16});
  const std::string text = editedText(kTwoNodes, edits);
  EXPECT_NE(text.find("=> (float16[2] y)"), std::string::npos) << text;
  EXPECT_NE(text.find("y = Cast <to: int = 10> (y_f32)"), std::string::npos) << text;
}

TEST(NetworkEdits, BodiesAndWhatTheyCaptureAreReached) {
  const char* graph =
      "net (bool c, float[2] x) => (float[2] y) { [a] h = Relu(x)"
      " [i] y = If(c) <then_branch = t () => (float[2] p) { [n] p = Neg(h) },"
      " else_branch = e () => (float[2] q) { [s] q = Abs(h) }> }";
  NetworkEdits edits;
  const onnxlib::GraphPath body{{1, "then_branch"}};
  edits.nodes.push_back({{}, castNode("h", "h_to_f16", 10)});
  edits.operands.push_back({{body, 0}, 0, "h_to_f16"});
  edits.outcomes.push_back({{body, 0}, 0, "p_f16"});
  edits.nodes.push_back({body, castNode("p_f16", "p", 1)});
  const std::string text = editedText(graph, edits);
  EXPECT_NE(text.find("p_f16 = Neg (h_to_f16)"), std::string::npos) << text;
  EXPECT_NE(text.find("p = Cast <to: int = 1> (p_f16)"), std::string::npos) << text;
  EXPECT_LT(text.find("h_to_f16 = Cast"), text.find("If (c)")) << text;
}

TEST(NetworkEdits, MetadataIsAddedAndTheOpsetOnlyRaised) {
  NetworkEdits edits;
  edits.metadata["key"] = "value";
  edits.opset = 21;
  const std::string text = editedText(kTwoNodes, edits);
  EXPECT_NE(text.find("\"key\": \"value\""), std::string::npos) << text;
  EXPECT_NE(text.find("\"\" : 21"), std::string::npos) << text;
  EXPECT_NE(text.find("ir_version: 10"), std::string::npos) << text;
  edits.opset = 13;
  EXPECT_NE(editedText(kTwoNodes, edits).find("\"\" : 18"), std::string::npos);
}

TEST(NetworkEdits, WhatAnEditNamesMustBeThere) {
  NetworkEdits edits;
  edits.operands.push_back({{{}, 7}, 0, "h"});
  EXPECT_EQ(editedText(kTwoNodes, edits), "an edit names node 7 of a graph that has fewer nodes");
  edits.operands[0].node = {{{0, "body"}}, 0};
  EXPECT_EQ(editedText(kTwoNodes, edits), "an edit names a body that does not exist");
}

/// A network with a weight of 8 KiB inside the file.
std::string largeWeightBytes(const TemporaryFolder& folder) {
  NetworkEdits edits;
  std::vector<float> weights(2048, 1.5F);
  weights[7] = -2;
  const auto* data = reinterpret_cast<const std::byte*>(weights.data());
  edits.initializers.push_back({{}, {.name = "big", .dtype = DataType::F32, .dims = {2048}, .data = data}});
  edits.operands.push_back({{{}, 1}, 1, "big"});
  const char* graph = "net (float[2, 2048] x) => (float[2, 2048] y) { h = Neg(x) y = Add(h, h) }";
  const auto edited = onnxlib::editNetwork(folder.write("small.onnx", onnxBytes(graph)), edits, "w");
  EXPECT_TRUE(edited.ok()) << edited.error().text();
  EXPECT_TRUE(edited.value().weights.empty());
  return edited.value().model;
}

TEST(NetworkEdits, WeightsAboveASizeLieBesideTheFileAndStayThere) {
  const TemporaryFolder folder;
  const auto path = folder.write("model.onnx", largeWeightBytes(folder));
  const auto beside = onnxlib::editNetwork(path, {}, "out.onnx.data", 4096);
  ASSERT_TRUE(beside.ok()) << beside.error().text();
  const auto out = folder.path() / "out.onnx";
  ASSERT_TRUE(onnxlib::writeNetwork(out, beside.value()).ok());
  EXPECT_EQ(std::filesystem::file_size(folder.path() / "out.onnx.data"), 8192U);

  // Read again, the weights stay beside the next file, though they would have room inside.
  const auto again = onnxlib::editNetwork(out, {}, "again.onnx.data");
  ASSERT_TRUE(again.ok()) << again.error().text();
  const auto second = folder.path() / "again.onnx";
  ASSERT_TRUE(onnxlib::writeNetwork(second, again.value()).ok());
  std::filesystem::remove(folder.path() / "out.onnx.data");
  const auto model = importModel(second);
  ASSERT_TRUE(model.ok()) << model.error().text();
  const Tensor* weight = model.value().graph->constantData(*model.value().graph->findValue("big"));
  EXPECT_EQ(weight->asDouble(7), -2);
  EXPECT_EQ(weight->asDouble(2047), 1.5);
}

TEST(NetworkEdits, WhatIsReadIsNeverWrittenOver) {
  const TemporaryFolder folder;
  const auto path = folder.write("model.onnx", onnxBytes(kTwoNodes));
  const auto edited = onnxlib::editNetwork(path, {}, "w");
  ASSERT_TRUE(edited.ok());
  const Status written = onnxlib::writeNetwork(path, edited.value());
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().message, "would be written over: the network is read from it");
  std::filesystem::create_symlink(path, folder.path() / "link.onnx");
  EXPECT_FALSE(onnxlib::writeNetwork(folder.path() / "link.onnx", edited.value()).ok());
}

}  // namespace
}  // namespace fusescope::test
