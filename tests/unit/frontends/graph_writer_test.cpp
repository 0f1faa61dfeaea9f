// Graphs as ONNX files: what is written and read again is the same graph, in bodies too, and ONNX's checker takes it.
#include "frontends/onnx_writer.h"

#include <regex>

#include "ir/graph.h"
#include "onnxlib/onnxlib.h"
#include "passes/pipelines.h"
#include "tests/unit/frontends/onnx_files.h"
#include "tests/unit/frontends/run_graph.h"

namespace fusescope::test {
namespace {

/// The graph's text without the numbers that names get in bodies, and those of nodes in a file.
std::string textOf(const Graph& graph) {
  return std::regex_replace(printGraph(graph), std::regex("#[0-9]+|, origins=\\[[0-9, ]*\\]"), "");
}

Model prepared(Result<Model> imported) {
  EXPECT_TRUE(imported.ok()) << imported.error().text();
  if (!imported.ok()) return {};
  auto model = prepareModel(std::move(imported).value());
  EXPECT_TRUE(model.ok()) << model.error().text();
  return model.ok() ? std::move(model).value() : Model();
}

/// `text` as a prepared model, and the same after it was written and read again.
struct WrittenTwice {
  Model first, second;
  std::string bytes;
};

WrittenTwice writtenTwice(const std::string& text) {
  WrittenTwice made{.first = prepared(importText(text)), .second = {}, .bytes = {}};
  if (made.first.graph == nullptr) return made;
  const auto bytes = onnxBytes(*made.first.graph);
  EXPECT_TRUE(bytes.ok()) << bytes.error().text();
  if (!bytes.ok()) return made;
  made.bytes = bytes.value();
  const TemporaryFolder folder;
  const auto path = folder.write("model.onnx", made.bytes);
  EXPECT_EQ(onnxlib::checkerComplaint(path).value_or(""), "");
  made.second = prepared(importModel(path));
  return made;
}

/// Both give the same bytes on `inputs`.
void expectSame(const WrittenTwice& made, const std::vector<Tensor>& inputs) {
  ASSERT_NE(made.first.graph, nullptr);
  ASSERT_NE(made.second.graph, nullptr);
  EXPECT_EQ(textOf(*made.first.graph), textOf(*made.second.graph));
  EXPECT_EQ(made.first.bodies.size(), made.second.bodies.size());
  const auto expected = runGraph(*made.first.graph, inputs), actual = runGraph(*made.second.graph, inputs);
  ASSERT_EQ(expected.size(), actual.size());
  ASSERT_FALSE(expected.empty());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_TRUE(expected[i].identical(actual[i])) << i;
}

Tensor flag(bool value) {
  return Tensor::ofInt64({value ? 1 : 0}).reshaped({}).converted(DataType::Bool);
}

TEST(GraphWriter, BranchesReadWhatIsAroundThem) {
  const auto made = writtenTwice(R"(
net (float[4] x, bool c) => (float[4] y) <float[4] w = {1, 2, 3, 4}> {
  h = Mul (x, w)
  y = If (c) <
    then_branch = t () => (float[4] a) { inner = Add (h, w) a = Relu (inner) },
    else_branch = e () => (float[4] b) <float[4] k = {0.5, 0.5, 0.5, 0.5}> { inner = Sub (h, k) b = Neg (inner) }>
})");
  for (const bool branch : {true, false}) expectSame(made, {f32({4}, {1, -2, 3, -4}), flag(branch)});
}

TEST(GraphWriter, BodiesStandInOneAnotherAndReadThroughThem) {
  const auto made = writtenTwice(R"(
net (float[4] x, int64 trips) => (float[4] y, float[n, 4] all) <bool on = {1}> {
  h = Mul (x, x)
  y, all = Loop (trips, on, x) <body = b (int64 i, bool go, float[4] state) => (bool more, float[4] next, float[4] seen) {
    more = Identity (go)
    sum = ReduceSum <keepdims = 0> (state)
    zero = Constant <value = float {0}> ()
    up = Greater (sum, zero)
    next = If (up) <
      then_branch = t () => (float[4] a) { less = Sub (state, h) a = Tanh (less) },
      else_branch = e () => (float[4] a2) { more2 = Add (state, h) a2 = Tanh (more2) }>
    seen = Add (next, h)
  }>
})");
  expectSame(made, {f32({4}, {1, -2, 3, -4}), Tensor::ofInt64({3}).reshaped({})});
}

TEST(GraphWriter, WhatABodyHandsOnIsMadeInIt) {
  const auto made = writtenTwice(R"(
net (float[4] x, bool c) => (float[4] y, float[4] z) <float[4] w = {1, 2, 3, 4}> {
  h = Relu (x)
  y, z = If (c) <
    then_branch = t () => (float[4] a, float[4] a2) { a = Identity (h) a2 = Identity (w) },
    else_branch = e () => (float[4] b, float[4] b2) { m = Neg (h) b = Identity (m) b2 = Identity (m) }>
})");
  for (const bool branch : {true, false}) expectSame(made, {f32({4}, {1, -2, 3, -4}), flag(branch)});
}

TEST(GraphWriter, AScanKeepsItsStateAndItsSlices) {
  const auto made = writtenTwice(R"(
net (float[2] x, float[3, 2] rows) => (float[2] last, float[3, 2] sums) {
  last, sums = Scan <num_scan_inputs = 1, body = b (float[2] state, float[2] row) => (float[2] next, float[2] sum) {
    sum = Add (state, row)
    next = Tanh (sum)
  }> (x, rows)
})");
  expectSame(made, {f32({2}, {1, 2}), f32({3, 2}, {1, 2, 3, 4, 5, 6})});
}

TEST(GraphWriter, ANameOfABodyIsNeverThatOfAValueAroundIt) {
  GraphEditor inside;
  const TensorType type{DataType::F32, Shape::of(Dims{2})};
  const ValueId captured = inside.addInput("other", type);
  const ValueId made = inside.addValue("late", type);  // a value of that name is made behind the If as well
  inside.addNode({.op = "Neg", .name = "node", .inputs = {captured}, .outputs = {made}});
  inside.addOutput(made);
  inside.addOutput(captured);
  const auto body = inside.publish();
  ASSERT_TRUE(body.ok()) << body.error().text();
  GraphEditor editor;
  const ValueId x = editor.addInput("x", type);
  const ValueId c = editor.addInput("c", {DataType::Bool, Shape::of(Dims{})});
  const ValueId a = editor.addValue("a", type), b = editor.addValue("b", type), late = editor.addValue("late", type);
  const Subgraph branch{body.value(), {x}};
  editor.addNode({.op = "If",
                  .name = "choice",
                  .inputs = {c},
                  .outputs = {a, b},
                  .attributes = {{"then_branch", branch}, {"else_branch", branch}}});
  editor.addNode({.op = "Add", .name = "node", .inputs = {a, b}, .outputs = {late}});
  editor.addOutput(late);
  const auto graph = editor.publish();
  ASSERT_TRUE(graph.ok()) << graph.error().text();

  const auto bytes = onnxBytes(*graph.value());
  ASSERT_TRUE(bytes.ok()) << bytes.error().text();
  const TemporaryFolder folder;
  const auto path = folder.write("model.onnx", bytes.value());
  EXPECT_EQ(onnxlib::checkerComplaint(path).value_or(""), "");
  const auto file = onnxlib::readModel(path);
  ASSERT_TRUE(file.ok()) << file.error().text();
  const auto& nodes = file.value().graph.nodes;
  const auto& written = *std::get<std::shared_ptr<const onnxlib::FileGraph>>(nodes.at(0).attributes.at(0).value);
  EXPECT_EQ(written.nodes.at(0).inputs, std::vector<std::string>{"x"});
  EXPECT_EQ(written.outputs.at(0).name, "late#2");
  EXPECT_EQ(written.nodes.at(1).op, "Identity");
  EXPECT_EQ(written.outputs.at(1).name, written.nodes.at(1).outputs.at(0));
  const auto again = importModel(path);
  ASSERT_TRUE(again.ok()) << again.error().text();
  const auto numbers = runGraph(*again.value().graph, {f32({2}, {1, 2}), flag(true)});
  EXPECT_EQ(numbersOf(numbers.at(0)), (std::vector<double>{0, 0}));
}

TEST(GraphWriter, SequencesAndOptionalsKeepTheirTypes) {
  const auto made = writtenTwice(R"(
net (float[4] x, bool c) => (float[n] y) {
  s = SequenceConstruct (x, x)
  chosen = If (c) <
    then_branch = t () => (seq(float[4]) a) { r = Relu (x) a = SequenceInsert (s, r) },
    else_branch = e () => (seq(float[4]) b) { n = Neg (x) b = SequenceInsert (s, n) }>
  y = ConcatFromSequence <axis = 0> (chosen)
})");
  for (const bool branch : {true, false}) expectSame(made, {f32({4}, {1, -2, 3, -4}), flag(branch)});
  const auto optional = writtenTwice(R"(
net (float[4] x, bool c) => (float[4] y) {
  chosen = If (c) <
    then_branch = t () => (optional(float[4]) a) { r = Relu (x) a = Optional (r) },
    else_branch = e () => (optional(float[4]) b) { n = Neg (x) b = Optional (n) }>
  y = OptionalGetElement (chosen)
})");
  for (const bool branch : {true, false}) expectSame(optional, {f32({4}, {1, -2, 3, -4}), flag(branch)});
}

TEST(GraphWriter, WhatCannotBeWrittenIsNamedWithItsPlace) {
  const auto imported = importText(R"(
net (float[4] x, bool c) => (float[4] y) {
  [choice] y = If (c) <
    then_branch = t () => (float[4] a) { [inside] a = vendor.Strange (x) },
    else_branch = e () => (float[4] b) { b = Neg (x) }>
})",
                                   18, ", \"vendor\" : 1");
  ASSERT_TRUE(imported.ok()) << imported.error().text();
  const auto bytes = onnxBytes(*imported.value().graph);
  ASSERT_FALSE(bytes.ok());
  EXPECT_EQ(bytes.error().where.node, "choice/inside");
  EXPECT_NE(bytes.error().message.find("Strange"), std::string::npos) << bytes.error().text();
}

}  // namespace
}  // namespace fusescope::test
