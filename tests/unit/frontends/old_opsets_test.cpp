// Networks written at opsets 7 to 20, run with the reference kernels: the numbers are those of the ONNX documents of
// their time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "passes/pipelines.h"
#include "tests/unit/frontends/onnx_files.h"
#include "tests/unit/frontends/run_graph.h"

namespace fusescope::test {
namespace {

using Numbers = std::vector<double>;

Model opened(const std::string& graph, int opset) {
  auto model = importText(graph, opset);
  EXPECT_TRUE(model.ok()) << model.error().text();
  return std::move(model).value();
}

/// The outputs, run once as imported and once as prepared: both must agree.
std::vector<Tensor> outputsOf(const std::string& graph, int opset, const std::vector<Tensor>& inputs) {
  const Model model = opened(graph, opset);
  const std::vector<Tensor> outputs = runGraph(*model.graph, inputs);
  const auto prepared = prepareModel(model);
  EXPECT_TRUE(prepared.ok()) << prepared.error().text();
  const std::vector<Tensor> again = runGraph(*prepared.value().graph, inputs);
  EXPECT_EQ(outputs.size(), again.size());
  for (std::size_t i = 0; i < std::min(outputs.size(), again.size()); ++i)
    EXPECT_TRUE(outputs[i].identical(again[i])) << "output " << i;
  return outputs;
}

Numbers outputOf(const std::string& graph, int opset, const std::vector<Tensor>& inputs) {
  const auto outputs = outputsOf(graph, opset, inputs);
  EXPECT_EQ(outputs.size(), 1U);
  return outputs.empty() ? Numbers() : numbersOf(outputs[0]);
}

void expectNear(const Numbers& got, const Numbers& wanted, double tolerance = 1e-6) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], tolerance) << i;
}

const Node& onlyNode(const Model& model) {
  EXPECT_EQ(model.graph->nodeCount(), 1U);
  return model.graph->node(model.graph->order().at(0));
}

TEST(OldOpsets, SoftmaxWasOfAMatrix) {
  const Tensor zeros = f32({2, 2, 2}, {0, 0, 0, 0, 0, 0, 0, 0});
  const std::string start = "g (float[2,2,2] x) => (float[2,2,2] y) { y = ";
  expectNear(outputOf(start + "Softmax (x) }", 12, {zeros}), Numbers(8, 0.25));
  expectNear(outputOf(start + "Softmax (x) }", 13, {zeros}), Numbers(8, 0.5));
  expectNear(outputOf(start + "Softmax <axis=0> (x) }", 7, {zeros}), Numbers(8, 0.125));
  expectNear(outputOf(start + "Softmax <axis=2> (x) }", 7, {zeros}), Numbers(8, 0.5));
  expectNear(outputOf(start + "LogSoftmax (x) }", 11, {zeros}), Numbers(8, -std::log(4.0)));
  EXPECT_EQ(outputOf(start + "Hardmax (x) }", 11, {f32({2, 2, 2}, {1, 2, 4, 3, 9, 8, 7, 6})}),
            (Numbers{0, 0, 1, 0, 1, 0, 0, 0}));
  expectNear(outputOf("g (float[a,b,c] x) => (float[a,b,c] y) { y = Softmax (x) }", 9, {zeros}), Numbers(8, 0.25));
}

TEST(OldOpsets, SoftmaxOfOneLongAxisStaysOneNode) {
  const Model model = opened("g (float[2,3,1,1] x) => (float[2,3,1,1] y) { y = Softmax (x) }", 9);
  EXPECT_EQ(onlyNode(model).intAttribute("axis", 0), 1);
}

TEST(OldOpsets, AttributesBecameInputs) {
  const Tensor x = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto y = [&](const std::string& call, int opset) {
    return outputOf("g (float[2,3] x) => (float[a,b] y) { y = " + call + " }", opset, {x});
  };
  EXPECT_EQ(y("Clip <min=2.0, max=4.5> (x)", 7), (Numbers{2, 2, 3, 4, 4.5, 4.5}));
  EXPECT_EQ(y("Clip <max=2.0> (x)", 10), (Numbers{1, 2, 2, 2, 2, 2}));
  EXPECT_EQ(y("Clip (x)", 10), (Numbers{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(y("Slice <starts=[1], ends=[100], axes=[1]> (x)", 9), (Numbers{2, 3, 5, 6}));
  EXPECT_EQ(y("Slice <starts=[-1,0], ends=[2,-1]> (x)", 7), (Numbers{4, 5}));
  EXPECT_EQ(y("Pad <pads=[0,1,0,0], value=2.5> (x)", 10), (Numbers{2.5, 1, 2, 3, 2.5, 4, 5, 6}));
  EXPECT_EQ(y("Pad <pads=[0,0,0,1], mode=\"edge\"> (x)", 7), (Numbers{1, 2, 3, 3, 4, 5, 6, 6}));
  EXPECT_EQ(y("ReduceSum <axes=[1]> (x)", 12), (Numbers{6, 15}));
  EXPECT_EQ(y("ReduceMean <axes=[0]> (x)", 17), (Numbers{2.5, 3.5, 4.5}));
  EXPECT_EQ(y("ReduceMax <axes=[-1]> (x)", 11), (Numbers{3, 6}));
  EXPECT_EQ(outputOf("g (float[2,3] x) => (float[1,2,1,3] y) { y = Unsqueeze <axes=[0,2]> (x) }", 11, {x}).size(), 6U);
  EXPECT_EQ(
      outputOf("g (float[1,2,1] x) => (float[2] y) { y = Squeeze <axes=[0,2]> (x) }", 7, {f32({1, 2, 1}, {1, 2})}),
      (Numbers{1, 2}));
}

TEST(OldOpsets, NumbersAreOfTheTypeOfTheData) {
  const Tensor x = f32({3}, {1, 2, 3});
  EXPECT_EQ(outputOf("g (float[3] x) => (float16[3] y) { h = Cast <to=10> (x) y = Clip <max=2.5> (h) }", 9, {x}),
            (Numbers{1, 2, 2.5}));
  EXPECT_EQ(
      outputOf("g (float[3] x) => (double[4] y) { h = Cast <to=11> (x) y = Pad <pads=[1,0], value=0.5> (h) }", 9, {x}),
      (Numbers{0.5, 1, 2, 3}));
}

TEST(OldOpsets, SplitsAndTheLargest) {
  const Tensor x = f32({4}, {4, 1, 3, 2});
  const auto split =
      outputsOf("g (float[4] x) => (float[1] a, float[3] b) { a, b = Split <split=[1,3]> (x) }", 12, {x});
  EXPECT_EQ(numbersOf(split.at(1)), (Numbers{1, 3, 2}));
  const auto halves = outputsOf("g (float[4] x) => (float[2] a, float[2] b) { a, b = Split (x) }", 7, {x});
  EXPECT_EQ(numbersOf(halves.at(1)), (Numbers{3, 2}));
  const auto top = outputsOf("g (float[4] x) => (float[2] v, int64[2] i) { v, i = TopK <k=2> (x) }", 9, {x});
  EXPECT_EQ(numbersOf(top.at(0)), (Numbers{4, 3}));
  EXPECT_EQ(numbersOf(top.at(1)), (Numbers{0, 2}));
}

TEST(OldOpsets, DropoutDidNotTrainAndItsMaskWasOfTheData) {
  const auto outputs =
      outputsOf("g (float[2] x) => (float[2] y, float[2] m) { y, m = Dropout <ratio=0.7> (x) }", 7, {f32({2}, {3, 4})});
  EXPECT_EQ(numbersOf(outputs.at(0)), (Numbers{3, 4}));
  EXPECT_EQ(outputs.at(1).type(), DataType::F32);
  EXPECT_EQ(numbersOf(outputs.at(1)), (Numbers{1, 1}));
  const auto later =
      outputsOf("g (float[2] x) => (float[2] y, bool[2] m) { y, m = Dropout <ratio=0.7> (x) }", 10, {f32({2}, {3, 4})});
  EXPECT_EQ(later.at(1).type(), DataType::Bool);
}

TEST(OldOpsets, UpsampleAndResizeTookTheNearestBelow) {
  const Tensor x = f32({1, 1, 1, 2}, {1, 3});
  const Numbers half = {1, 1, 3};
  EXPECT_EQ(
      outputOf("g (float[1,1,1,2] x) => (float[1,1,1,3] y) { y = Upsample <scales=[1.0,1.0,1.0,1.5]> (x) }", 7, {x}),
      half);
  const std::string scales = "<float[4] s = {1.0, 1.0, 1.0, 1.5}>";
  EXPECT_EQ(outputOf("g (float[1,1,1,2] x) => (float[1,1,1,3] y) " + scales + " { y = Upsample (x, s) }", 9, {x}),
            half);
  EXPECT_EQ(outputOf("g (float[1,1,1,2] x) => (float[1,1,1,3] y) " + scales + " { y = Resize (x, s) }", 10, {x}), half);
  EXPECT_EQ(outputOf("g (float[1,1,1,2] x) => (float[1,1,1,4] y) <float[4] s = {1.0, 1.0, 1.0, 2.0}>"
                     " { y = Upsample <mode=\"linear\"> (x, s) }",
                     9, {x}),
            (Numbers{1, 2, 3, 3}));
}

TEST(OldOpsets, ResizeTookTheNearestAboveWhereItShrank) {
  const Tensor x = f32({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  const auto y = [&](const std::string& scales) {
    return outputOf("g (float[2,4] x) => (float[a,b] y) <float[2] s = {" + scales + "}> { y = Resize (x, s) }", 10,
                    {x});
  };
  EXPECT_EQ(y("0.6, 0.6"), (Numbers{1, 3}));              // places 0 and 1.67
  EXPECT_EQ(y("1.5, 0.6"), (Numbers{1, 3, 1, 3, 5, 7}));  // rows 0, 0.67 and 1.33
}

TEST(OldOpsets, ResizeHalfPixelForNearest) {
  const Tensor x = f32({2}, {1, 3});
  const auto y = [&](const std::string& rounding, int opset = 11) {
    return outputOf(
        "g (float[2] x) => (float[4] y) <float[0] r = {}, float[1] s = {2.0}> { y = Resize "
        "<coordinate_transformation_mode=\"tf_half_pixel_for_nn\"" +
            rounding + "> (x, r, s) }",
        opset, {x});
  };
  EXPECT_EQ(y(", nearest_mode=\"floor\""), (Numbers{1, 1, 3, 3}));      // 0.25 0.75 1.25 1.75
  EXPECT_EQ(y(", nearest_mode=\"floor\"", 17), (Numbers{1, 1, 3, 3}));  // as tf2onnx writes it
  EXPECT_EQ(y(""), (Numbers{1, 3, 3, 3}));                              // rounded half down
  const auto linear = importText(
      "g (float[2] x) => (float[4] y) <float[0] r = {}, float[1] s = {2.0}> { y = Resize <mode=\"linear\","
      " coordinate_transformation_mode=\"tf_half_pixel_for_nn\"> (x, r, s) }",
      11);
  ASSERT_FALSE(linear.ok());
  EXPECT_NE(linear.error().text().find("node_of_y"), std::string::npos);
}

TEST(OldOpsets, BatchNormalizationPerElement) {
  const std::string graph =
      "g (float[1,1,2] x) => (float[1,1,2] y) <float[1,2] s = {1.0, 2.0}, float[1,2] b = {0.0, 1.0},"
      " float[1,2] m = {1.0, 2.0}, float[1,2] v = {4.0, 9.0}>"
      " { y = BatchNormalization <spatial=0, epsilon=0.0> (x, s, b, m, v) }";
  expectNear(outputOf(graph, 7, {f32({1, 1, 2}, {3, 5})}), {1, 3});  // (3-1)/2, (5-2)/3*2+1
}

TEST(OldOpsets, BatchNormalizationPerChannel) {
  const std::string graph =
      "g (float[1,1,2] x) => (float[1,1,2] y) <float[1] s = {2.0}, float[1] b = {1.0}, float[1] m = {1.0},"
      " float[1] v = {4.0}> { y = BatchNormalization <epsilon=0.0, spatial=1> (x, s, b, m, v) }";
  expectNear(outputOf(graph, 8, {f32({1, 1, 2}, {3, 5})}), {3, 5});
}

TEST(OldOpsets, OneHotHadNoNegativeIndices) {
  const std::string graph =
      "g (int64[3] i) => (float[3,3] y) <int64 d = {3}, float[2] v = {0.0, 1.0}> { y = OneHot (i, d, v) }";
  const Tensor indices = Tensor::ofInt64({-1, 0, 2});
  EXPECT_EQ(outputOf(graph, 9, {indices}), (Numbers{0, 0, 0, 1, 0, 0, 0, 0, 1}));
  EXPECT_EQ(outputOf(graph, 11, {indices}), (Numbers{0, 0, 1, 1, 0, 0, 0, 0, 1}));
}

TEST(OldOpsets, ScatterIsScatterElements) {
  const std::string graph =
      "g (float[3] x) => (float[3] y) <int64[2] i = {2, 0}, float[2] u = {8.0, 9.0}> { y = Scatter (x, i, u) }";
  for (const int opset : {9, 11, 18})
    EXPECT_EQ(outputOf(graph, opset, {f32({3}, {1, 2, 3})}), (Numbers{9, 2, 8})) << opset;
}

TEST(OldOpsets, RoiAlignDidNotShift) {
  const std::string graph =
      "g (float[1,1,4,4] x, float[1,4] r, int64[1] b) => (float[1,1,1,1] y) { y = RoiAlign (x, r, b) }";
  EXPECT_EQ(onlyNode(opened(graph, 10)).textAttribute("coordinate_transformation_mode", ""), "output_half_pixel");
  EXPECT_FALSE(onlyNode(opened(graph, 16)).hasAttribute("coordinate_transformation_mode"));
}

TEST(OldOpsets, GroupNormalizationOfOpenChannels) {
  const std::string graph =
      "g (float[n,c,k] x, float[2] s, float[2] b) => (float[n,c,k] y)"
      " { y = GroupNormalization <num_groups=2, epsilon=0.0> (x, s, b) }";
  const std::vector<Tensor> inputs = {f32({1, 4, 1}, {1, 3, 5, 9}), f32({2}, {1, 2}), f32({2}, {0, 10})};
  expectNear(outputOf(graph, 18, inputs), {-1, 1, 8, 12});
}

TEST(OldOpsets, ScanHadABatch) {
  const Model model = opened(
      "g (float[2,1] s, float[2,3,1] x) => (float[2,1] f, float[2,3,1] y) {"
      "  [scan] f, y = Scan <num_scan_inputs=1, directions=[1], body = b (float[1] a, float[1] e)"
      "    => (float[1] c, float[1] d) { c = Add (a, e) [clip] d = Clip <max=2.0> (c) }> (, s, x) }",
      8);
  const Node& outer = onlyNode(model);
  EXPECT_EQ(outer.name, "scan");
  EXPECT_EQ(outer.inputs.size(), 2U);
  EXPECT_EQ(outer.intAttribute("num_scan_inputs", 0), 2);
  const Graph& sample = *std::get<Subgraph>(outer.attributes.at("body")).graph;
  ASSERT_EQ(sample.nodeCount(), 1U);
  const Node& inner = sample.node(sample.order()[0]);
  EXPECT_EQ(inner.op, "Scan");
  EXPECT_EQ(inner.intAttribute("num_scan_inputs", 0), 1);
  EXPECT_EQ(inner.intsAttribute("scan_input_directions"), std::vector<std::int64_t>{1});
  const Graph& body = *std::get<Subgraph>(inner.attributes.at("body")).graph;
  const auto clip = body.findNode("clip");
  ASSERT_TRUE(clip.has_value());
  EXPECT_EQ(body.node(*clip).inputs.size(), 3U);  // the body is of opset 8 as well
}

TEST(OldOpsets, OperatorsOlderThanTheOldestOpsetAreReadIfTheyHaveNotChanged) {
  const std::string graph = "g (bool[2] x) => (bool[2] y) { y = Not (x) }";
  EXPECT_EQ(onlyNode(opened(graph, 1)).op, "Not");
}

TEST(OldOpsets, FunctionsAreOfTheirOwnOpset) {
  const auto model = importText(
      "g (float[1,2,2] x) => (float[1,2,2] y, float[1,2,2] z) { y = local.old (x) z = Softmax (x) }\n"
      "<domain: \"local\", opset_import: [\"\" : 11]> old (a) => (b) { b = Softmax (a) }",
      18, ", \"local\" : 1");
  ASSERT_TRUE(model.ok()) << model.error().text();
  const auto outputs = runGraph(*model.value().graph, {f32({1, 2, 2}, {0, 0, 0, 0})});
  ASSERT_EQ(outputs.size(), 2U);
  expectNear(numbersOf(outputs[0]), Numbers(4, 0.25));
  expectNear(numbersOf(outputs[1]), Numbers(4, 0.5));
}

}  // namespace
}  // namespace fusescope::test
