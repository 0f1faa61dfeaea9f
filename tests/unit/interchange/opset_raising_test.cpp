// What becomes of the nodes of a file whose opset is raised.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "interchange/typed_network/opset_raising.h"
#include "onnxlib/onnx_text.h"
#include "tests/support/paths.h"

namespace fusescope::test {
namespace {

onnxlib::FileModel fileOf(int opset, const std::string& graph) {
  const TemporaryFolder folder;
  const auto bytes =
      onnxlib::onnxTextToBytes("<ir_version: 7, opset_import: [\"\" : " + std::to_string(opset) + "]>\n" + graph);
  EXPECT_TRUE(bytes.ok()) << bytes.error().text();
  auto file = onnxlib::readModel(folder.write("model.onnx", bytes.value()));
  EXPECT_TRUE(file.ok()) << file.error().text();
  return std::move(file).value();
}

RaisedFile raised(const onnxlib::FileModel& file, std::int64_t to) {
  auto made = raisedTo(to, file, needOfTypes("conv"));
  EXPECT_TRUE(made.ok()) << made.error().text();
  return made.ok() ? std::move(made).value() : RaisedFile{.file = file, .edits = {}};
}

std::vector<std::int64_t> numbersOf(const onnxlib::FileGraph& graph, const std::string& name) {
  const auto found = std::ranges::find(graph.initializers, name, &onnxlib::FileTensor::name);
  if (found == graph.initializers.end()) return {-1};
  const auto* data = reinterpret_cast<const std::int64_t*>(found->data);
  return {data, data + found->dims.at(0)};
}

TEST(OpsetRaising, AttributesThatBecameOperandsDo) {
  const auto file =
      fileOf(11,
             "g (float[1, 4, 6, 6] x) => (float[1, 2, 6, 6] p, float[1, 2, 6, 6] q, float[1, 1, 6, 6] m) "
             "{ [split] p, q = Split <axis = 1, split = [2, 2]> (x) [mean] m = ReduceMean <axes = [1]> (x) }");
  const RaisedFile at13 = raised(file, 13), at18 = raised(file, 18);
  const auto& split = at13.file.graph.nodes[0];
  ASSERT_EQ(split.inputs.size(), 2U);
  EXPECT_EQ(numbersOf(at13.file.graph, split.inputs[1]), (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(split.attribute("split"), nullptr);
  EXPECT_NE(split.attribute("axis"), nullptr);
  EXPECT_NE(at13.file.graph.nodes[1].attribute("axes"), nullptr) << "that of ReduceMean goes at 18";
  EXPECT_EQ(at18.file.graph.nodes[1].attribute("axes"), nullptr);
  EXPECT_EQ(numbersOf(at18.file.graph, at18.file.graph.nodes[1].inputs.at(1)), (std::vector<std::int64_t>{1}));
  EXPECT_EQ(at18.file.opsets.at(""), 18);
  EXPECT_EQ(at13.edits.operands.size(), 1U);
  ASSERT_EQ(at13.edits.removedAttributes.size(), 1U);
  EXPECT_EQ(at13.edits.removedAttributes[0].name, "split");
  EXPECT_EQ(at13.edits.initializers.size(), 1U);
}

TEST(OpsetRaising, NodesInBodiesAreRaisedWhereTheyAre) {
  const auto file =
      fileOf(12,
             "g (bool c, float[2, 8] x) => (float[2, 1] y) { y = If (c) <then_branch = t () => (float[2, 1] "
             "a) { a = ReduceSum <axes = [1]> (x) }, else_branch = e () => (float[2, 1] b) { b = ReduceMax "
             "<axes = [1]> (x) }> }");
  const RaisedFile made = raised(file, 13);
  ASSERT_EQ(made.edits.removedAttributes.size(), 1U);
  const onnxlib::NodePlace place = made.edits.removedAttributes[0].node;
  ASSERT_EQ(place.graph.size(), 1U);
  EXPECT_EQ(place.graph[0].attribute, "then_branch");
  EXPECT_EQ(made.edits.initializers.at(0).graph, place.graph);
  const auto* before = file.graph.nodes[0].attribute("then_branch");
  const auto& body = *std::get<std::shared_ptr<const onnxlib::FileGraph>>(before->value);
  EXPECT_NE(body.nodes[0].attribute("axes"), nullptr) << "the file itself stays as it is";
}

TEST(OpsetRaising, ModesThatWereTheOnlyOnesAreSaid) {
  const auto file =
      fileOf(10,
             "g (float[1, 4, 6, 6] x, float[2, 4] rois, int64[2] of) => (float[2, 4, 3, 3] r, float[1, 4, "
             "12, 12] y) <float[4] scales = {1, 1, 2, 2}> { r = RoiAlign <output_height = 3, output_width = "
             "3> (x, rois, of) y = Resize <mode = \"linear\"> (x, scales) }");
  const RaisedFile made = raised(file, 16);
  const auto mode = [&](std::size_t node) {
    const auto* attribute = made.file.graph.nodes[node].attribute("coordinate_transformation_mode");
    return attribute == nullptr ? "" : std::get<std::string>(attribute->value);
  };
  EXPECT_EQ(mode(0), "output_half_pixel");
  EXPECT_EQ(mode(1), "asymmetric");
  EXPECT_EQ(made.file.graph.nodes[1].inputs, (std::vector<std::string>{"x", "", "scales"}));
}

TEST(OpsetRaising, WhatTakesSeveralNodesIsWrittenAnewInItsPlace) {
  const auto file = fileOf(12, "g (float[2, 3, 4] x) => (float[2, 3, 4] y) { [rows] y = Softmax <axis = 1> (x) }");
  RaisedFile made = raised(file, 13);
  ASSERT_EQ(made.file.graph.nodes.size(), 4U);
  EXPECT_EQ(made.file.graph.nodes[0].name, "rows") << "the plan's types are of this place";
  EXPECT_EQ(made.file.graph.nodes[0].op, "Softmax");
  EXPECT_TRUE(made.rewritten.at({{}, 0}));
  EXPECT_FALSE(made.rewritten.at({{}, 1}));
  // As a Cast behind the Softmax, and one before what it reads, are put in.
  const std::string read = made.file.graph.nodes[0].inputs[0], rows = made.file.graph.nodes[0].outputs[0];
  onnxlib::NetworkEdits& edits = made.edits;
  edits.nodes.push_back({{}, {.name = "cast", .op = "Cast", .inputs = {read}, .outputs = {"narrow"}}});
  edits.operands.push_back({{{}, 0}, 0, "narrow"});
  edits.outcomes.push_back({{{}, 0}, 0, "narrow_rows"});
  settleRewritten(made, edits);
  EXPECT_TRUE(edits.operands.empty());
  EXPECT_TRUE(edits.outcomes.empty());
  EXPECT_EQ(edits.removedNodes, (std::vector<onnxlib::NodePlace>{{{}, 0}}));
  ASSERT_EQ(edits.nodes.size(), 5U);
  std::set<std::string> there{"x"};
  for (const auto& added : edits.nodes) {
    if (added.node.op == "Softmax") {
      EXPECT_EQ(added.node.inputs[0], "narrow");
      EXPECT_EQ(added.node.outputs[0], "narrow_rows");
    }
    for (const std::string& input : added.node.inputs)
      EXPECT_TRUE(there.contains(input) || input == rows) << input << " of " << added.node.op;
    there.insert(added.node.outputs.begin(), added.node.outputs.end());
  }
  EXPECT_TRUE(there.contains("y"));
  EXPECT_EQ(raised(fileOf(12, "g (float[2, 3] x) => (float[2, 3] y) { y = Softmax <axis = 1> (x) }"), 13)
                .file.graph.nodes.size(),
            1U)
      << "of the last axis it is one node";
}

TEST(OpsetRaising, WhatCannotSayItsZerosIsRefusedByName) {
  const char* graph = "g (float[N, 3, 4] x) => (float[N, 3, 4] y) { [rows] y = Softmax <axis = 1> (x) }";
  const auto made = raisedTo(13, fileOf(12, graph), needOfTypes("conv"));
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().where.node, "rows");
  EXPECT_NE(made.error().message.find("its input may be empty"), std::string::npos) << made.error().message;
  EXPECT_TRUE(raisedTo(14, fileOf(12, graph), needOfTypes("conv")).ok());
}

TEST(OpsetRaising, AnOperatorThatBecameAnotherIsThatOne) {
  const auto file = fileOf(9,
                           "g (float[1, 4, 6, 6] x) => (float[1, 4, 12, 12] y) <float[4] scales = {1, 1, 2, 2}> "
                           "{ [up] y = Upsample <mode = \"nearest\"> (x, scales) }");
  RaisedFile made = raised(file, 13);
  EXPECT_EQ(made.file.graph.nodes.at(0).op, "Resize");
  settleRewritten(made, made.edits);
  ASSERT_EQ(made.edits.nodes.size(), 1U);
  EXPECT_EQ(made.edits.nodes[0].node.name, "up");
  EXPECT_EQ(made.edits.removedNodes.size(), 1U);
}

}  // namespace
}  // namespace fusescope::test
