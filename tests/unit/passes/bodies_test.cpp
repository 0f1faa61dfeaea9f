#include <gtest/gtest.h>

#include <algorithm>

#include "ops/support/graph_evaluator.h"
#include "passes/pipelines.h"
#include "tests/unit/frontends/onnx_files.h"
#include "tests/unit/passes/prepared_model.h"

namespace fusescope::test {
namespace {

const Graph& bodyOf(const Graph& graph, const std::string& node, const std::string& attribute) {
  return *std::get<Subgraph>(graph.node(graph.findNode(node).value()).attributes.at(attribute)).graph;
}

std::string typeOf(const Graph& graph, const std::string& value) {
  return graph.value(graph.findValue(value).value()).type.text();
}

/// The numbers of the first output.
std::vector<double> runOn(const Graph& graph, const std::vector<Tensor>& inputs) {
  std::vector<const Tensor*> pointers;
  for (const Tensor& input : inputs) pointers.push_back(&input);
  const auto outputs = ops::GraphEvaluator(graph).run(pointers);
  EXPECT_TRUE(outputs.ok()) << outputs.error().text();
  std::vector<double> numbers;
  for (std::int64_t i = 0; outputs.ok() && i < outputs.value()[0].count(); ++i)
    numbers.push_back(outputs.value()[0].asDouble(i));
  return numbers;
}

Tensor flag(bool value) {
  return Tensor::ofInt64({value ? 1 : 0}).reshaped({}).converted(DataType::Bool);
}
Tensor pair(float a, float b) {
  return Tensor::copyOf<float>(DataType::F32, {2}, std::vector<float>{a, b});
}

constexpr const char* kNested =
    "g (bool c, bool d, float[2] x) => (float[k] y) <float[2] w = {1, 2}> {"
    "  [out] y = If (c) <then_branch = t () => (float[m] a) {"
    "      [in] a = If (d) <then_branch = tt () => (float[n] p) { p = Add (x, w) },"
    "                       else_branch = te () => (float[n] q) { q = Sub (x, w) }> },"
    "    else_branch = e () => (float[m] b) { b = Neg (x) }> }";

TEST(Bodies, CaptureThroughTwoLevels) {
  const Model model = prepared(kNested);
  EXPECT_EQ(runOn(*model.graph, {flag(true), flag(true), pair(10, 20)}), (std::vector<double>{11, 22}));
  EXPECT_EQ(runOn(*model.graph, {flag(true), flag(false), pair(10, 20)}), (std::vector<double>{9, 18}));
  EXPECT_EQ(runOn(*model.graph, {flag(false), flag(true), pair(10, 20)}), (std::vector<double>{-10, -20}));
}

TEST(Bodies, AreTypedByWhatTheyGet) {
  Model model = prepared(kNested);
  EXPECT_EQ(typeOf(*model.graph, "y"), "f32[2]");
  const Graph& outer = bodyOf(*model.graph, "out", "then_branch");
  EXPECT_EQ(typeOf(outer, "a"), "f32[2]");
  EXPECT_EQ(typeOf(bodyOf(outer, "in", "else_branch"), "q"), "f32[2]");
  EXPECT_EQ(typeOf(bodyOf(*model.graph, "out", "else_branch"), "b"), "f32[2]");

  const std::string before = printGraph(*model.graph);
  const auto again = prepareModel(std::move(model));
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_EQ(printGraph(*again.value().graph), before) << "inferring twice changes nothing";
}

TEST(Bodies, OfLoopsAreTypedForEveryIteration) {
  const Model model = prepared(
      "g (int64 m, float[1] s) => (float[k] y, float[n, j] z) {"
      "  [loop] y, z = Loop (m, , s) <body = b (int64 i, bool go, float[a] u) => (bool on, float[b] v, float[1] r) {"
      "      on = Identity (go) v = Concat <axis = 0> (u, u) r = Neg (s) }> }");
  const Graph& body = bodyOf(*model.graph, "loop", "body");
  EXPECT_EQ(typeOf(body, "v"), "f32[2*u#0]");
  EXPECT_EQ(typeOf(body, "r"), "f32[1]");
  EXPECT_EQ(typeOf(body, "i"), "int64[]");
  EXPECT_EQ(typeOf(*model.graph, "z"), "f32[n, 1]");
  const Tensor start = Tensor::copyOf<float>(DataType::F32, {1}, std::vector<float>{5});
  EXPECT_EQ(runOn(*model.graph, {Tensor::ofInt64({2}).reshaped({}), start}), (std::vector<double>{5, 5, 5, 5}));
}

TEST(Bodies, AreNeverRunAheadOfTime) {
  const Model model = prepared(
      "g (float[1] x) => (float[1] y) <int64 m = {1000000000000}, float[1] s = {0}> {"
      "  [loop] t = Loop (m, , s) <body = b (int64 i, bool go, float[1] u) => (bool on, float[1] v) {"
      "      on = Identity (go) v = Add (u, u) }> [add] y = Add (t, x) }");
  EXPECT_TRUE(model.graph->findNode("loop").has_value());
  EXPECT_EQ(typeOf(*model.graph, "t"), "f32[1]");
}

TEST(Bodies, ErrorsInsideNameTheNodeInside) {
  const auto imported = importText(
      "g (int64 m, float[2] s, float[3] x) => (float[2] y) {"
      "  [loop] y = Loop (m, , s) <body = b (int64 i, bool go, float[2] u) => (bool on, float[2] v) {"
      "      on = Identity (go) [bad] v = Add (u, x) }> }");
  ASSERT_TRUE(imported.ok()) << imported.error().text();
  const auto prepared = prepareModel(imported.value());
  ASSERT_FALSE(prepared.ok());
  EXPECT_EQ(prepared.error().where.node, "bad");
}

int count(const Model& model, std::string_view code) {
  return static_cast<int>(
      std::ranges::count_if(model.decisions, [&](const Decision& decision) { return decision.code == code; }));
}

TEST(Branches, OfAConditionThatIsConstantStandInTheGraph) {
  const Model model = prepared(
      "g (float[2] x) => (float[2] y) <bool c = {1}, float[2] w = {1, 2}> {"
      "  [out] t = If (c) <then_branch = t () => (float[2] a) { [inner] m = Mul (x, w) [last] a = Add (m, w) },"
      "                    else_branch = e () => (float[2] b) { [other] b = Neg (x) }> [relu] y = Relu (t) }");
  const Graph& graph = *model.graph;
  EXPECT_FALSE(graph.findNode("out").has_value());
  EXPECT_FALSE(graph.findNode("other").has_value());
  ASSERT_TRUE(graph.findNode("inner").has_value());
  EXPECT_EQ(graph.nodeCount(), 3U);
  const auto origins = graph.node(*graph.findNode("inner")).origins;
  ASSERT_EQ(origins.size(), 1U);
  EXPECT_EQ(model.origins[origins[0].index].name, "out");
  EXPECT_EQ(count(model, "normalise.branch_taken"), 1);
  EXPECT_EQ(count(model, "normalise.identity_removed"), 0) << "what the pass itself put in is no news";
  EXPECT_EQ(runOn(graph, {pair(3, 4)}), (std::vector<double>{4, 10}));
}

TEST(Branches, AreTakenByExtentsAndInEachOther) {
  const Model model = prepared(
      "g (float[1, 2] x) => (float[k] y) <int64[1] at = {0}, int64[1] one = {1}, bool no = {0}> {"
      "  s = Shape (x) n = Gather (s, at) c = Equal (n, one)"
      "  [out] y = If (c) <then_branch = t () => (float[m] a) {"
      "      [in] a = If (no) <then_branch = tt () => (float[j] p) { p = Flatten (x) },"
      "                        else_branch = te () => (float[2] q) { [squeeze] q = Squeeze (x, at) }> },"
      "    else_branch = e () => (float[h] b) { b = Identity (x) }> }");
  EXPECT_EQ(model.graph->nodeCount(), 1U);
  EXPECT_TRUE(model.graph->findNode("squeeze").has_value());
  EXPECT_EQ(typeOf(*model.graph, "y"), "f32[2]");
  EXPECT_EQ(count(model, "normalise.branch_taken"), 2);
  EXPECT_EQ(runOn(*model.graph, {Tensor::copyOf<float>(DataType::F32, {1, 2}, std::vector<float>{5, 6})}),
            (std::vector<double>{5, 6}));
}

TEST(Branches, ThatOnlyPassOnLeaveTheirName) {
  const Model model = prepared(
      "g (float[2] x) => (float[2] y) <bool c = {0}> {"
      "  [relu] r = Relu (x)"
      "  [out] y = If (c) <then_branch = t () => (float[2] a) { a = Neg (r) },"
      "                    else_branch = e () => (float[2] b) { b = Identity (r) }> }");
  EXPECT_EQ(model.graph->nodeCount(), 1U);
  EXPECT_EQ(runOn(*model.graph, {pair(-1, 2)}), (std::vector<double>{0, 2}));
}

TEST(Bodies, AreModelsOfTheirOwn) {
  const Model model = prepared(
      "g (bool c, float[2] x, float[2] z) => (float[2] y) <float[2] w = {1, 2}> {"
      "  [out] y = If (c) <then_branch = t () => (float[2] a) {"
      "      [ident] i = Identity (x) [dead] d = Neg (z) [double] v = Add (w, w) [last] a = Mul (i, v) },"
      "    else_branch = e () => (float[2] b) { [other] b = Neg (x) }> }");
  ASSERT_EQ(model.bodies.size(), 2U);
  const NodeId out = *model.graph->findNode("out");
  const Model* body = model.body(out, "then_branch");
  ASSERT_NE(body, nullptr);
  EXPECT_EQ(body->graph.get(), &bodyOf(*model.graph, "out", "then_branch"));
  EXPECT_EQ(body->graph->nodeCount(), 1U) << printGraph(*body->graph);
  EXPECT_EQ(body->origins.size(), 4U);
  EXPECT_EQ(count(*body, "normalise.identity_removed"), 1);
  EXPECT_EQ(count(*body, "normalise.folded"), 1);
  EXPECT_EQ(count(*body, "normalise.dead"), 1);
  EXPECT_EQ(body->graph->inputs().size(), 1U) << "w is its own now, and nothing reads z";
  EXPECT_EQ(std::get<Subgraph>(model.graph->node(out).attributes.at("then_branch")).captures.size(), 1U);
  EXPECT_FALSE(model.graph->findValue("w").has_value()) << "nobody else reads it";
  EXPECT_EQ(runOn(*model.graph, {flag(true), pair(3, 5), pair(0, 0)}), (std::vector<double>{6, 20}));
  EXPECT_EQ(runOn(*model.graph, {flag(false), pair(3, 5), pair(0, 0)}), (std::vector<double>{-3, -5}));

  Model again = model;
  const auto records = preparePipeline().run(again);
  ASSERT_TRUE(records.ok()) << records.error().text();
  for (const PassRecord& record : records.value()) EXPECT_FALSE(record.changed) << record.name;
  EXPECT_TRUE(again.graph == model.graph) << "nothing is left to do";
  ASSERT_EQ(again.bodies.size(), 2U);
  EXPECT_EQ(again.bodies[0].model, model.bodies[0].model);
}

TEST(Bodies, KnownConditionsInsideThemAreTaken) {
  const Model model = prepared(
      "g (int64 m, float[2] s) => (float[2] y) <bool c = {1}> {"
      "  [loop] y = Loop (m, , s) <body = b (int64 i, bool go, float[2] u) => (bool on, float[2] v) {"
      "      on = Identity (go) [in] v = If (c) <then_branch = t () => (float[2] p) { [twice] p = Add (u, u) },"
      "                                          else_branch = e () => (float[2] q) { q = Neg (u) }> }> }");
  const Graph& body = bodyOf(*model.graph, "loop", "body");
  EXPECT_TRUE(body.findNode("twice").has_value()) << printGraph(body);
  EXPECT_FALSE(body.findNode("in").has_value());
  EXPECT_EQ(runOn(*model.graph, {Tensor::ofInt64({3}).reshaped({}), pair(1, 2)}), (std::vector<double>{8, 16}));
}

TEST(Containers, PassThroughImportAndPreparation) {
  const Model model = prepared(
      "g (seq(float[2]) s, optional(float[2]) o) => (float[n] y, seq(float[2]) t, bool has) <int64 zero = {0}> {"
      "  a = SequenceAt (s, zero) [get] b = OptionalGetElement (o) y = Add (a, b)"
      "  t = SequenceInsert (s, y) has = OptionalHasElement (o) }");
  EXPECT_EQ(typeOf(*model.graph, "s"), "sequence(f32[2])");
  EXPECT_EQ(typeOf(*model.graph, "o"), "optional(f32[2])");
  EXPECT_EQ(typeOf(*model.graph, "y"), "f32[2]");
  EXPECT_EQ(typeOf(*model.graph, "t"), "sequence(f32[2])");
  EXPECT_EQ(typeOf(*model.graph, "has"), "bool[]");
  const Tensor list = Tensor::ofElements(Container::Sequence, DataType::F32, {pair(1, 2)});
  const Tensor some = Tensor::ofElements(Container::Optional, DataType::F32, {pair(10, 20)});
  EXPECT_EQ(runOn(*model.graph, {list, some}), (std::vector<double>{11, 22}));
  const std::string text = printGraph(*model.graph);
  const auto back = parseGraph(text);
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_EQ(printGraph(*back.value()), text);
}

TEST(Containers, AnEmptyOptionalKeepsItsTypeFromTheFile) {
  const Model model = prepared(
      "g (float[1] x) => (optional(seq(int64[2])) y) {"
      "  [empty] y = Optional <type : type_proto = seq(int64[2])> () }");
  const Node& node = model.graph->node(model.graph->findNode("empty").value());
  EXPECT_EQ(node.textAttribute("type", ""), "sequence(int64[2])");
  EXPECT_EQ(typeOf(*model.graph, "y"), "optional(sequence(int64[2]))");
}

TEST(Containers, HaveNoExtentsToAssume) {
  const auto model = importText("g (seq(float[n]) s) => (int64 y) { y = SequenceLength (s) }");
  ASSERT_TRUE(model.ok()) << model.error().text();
  EXPECT_EQ(model.value().inputSpecs[0].source, "file");
  EXPECT_TRUE(model.value().inputSpecs[0].opt.empty());
}

}  // namespace
}  // namespace fusescope::test
