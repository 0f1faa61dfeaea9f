// The export for Graphviz: its text as written in tests/golden/dot, and that Graphviz' own parser takes it.
#include <graphviz/cgraph.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/files.h"
#include "frontends/importers.h"
#include "interchange/exports.h"
#include "passes/pipelines.h"
#include "tests/unit/planning/plan_testing.h"

namespace fusescope {
namespace {

std::shared_ptr<const Model> modelOfText(const std::string& text) {
  Model model;
  auto graph = parseGraph(text);
  EXPECT_TRUE(graph.ok()) << (graph.ok() ? "" : graph.error().text());
  model.graph = graph.value();
  for (const NodeId id : model.graph->order()) model.origins.push_back({model.graph->node(id).name, "", ""});
  model.contentHash = hashText(text);
  auto prepared = prepareModel(std::move(model));
  EXPECT_TRUE(prepared.ok()) << (prepared.ok() ? "" : prepared.error().text());
  return std::make_shared<const Model>(std::move(prepared).value());
}

std::string dotOf(const std::shared_ptr<const Model>& model, PlanOptions options) {
  assignIds(options.directives);
  const auto plan = makePlan(model, options);
  EXPECT_TRUE(plan.ok()) << (plan.ok() ? "" : plan.error().text());
  return findExporter("dot")->write(*plan.value(), {}).value().text;
}

struct GraphCloser {
  void operator()(Agraph_t* graph) const { agclose(graph); }
};
using Parsed = std::unique_ptr<Agraph_t, GraphCloser>;

int clustersIn(Agraph_t* graph) {
  int count = 0;
  for (Agraph_t* sub = agfstsubg(graph); sub != nullptr; sub = agnxtsubg(sub))
    count += (std::string_view(agnameof(sub)).starts_with("cluster") ? 1 : 0) + clustersIn(sub);
  return count;
}

constexpr const char* kBodies = R"(graph "main" {
  input %c: bool[]
  input %x: f32[1, 4]
  %y: f32[1, 4] = If(%c) <else_branch=body (%x) graph "e" {
      input %x: f32[1, 4]
      %e: f32[1, 4] = Softmax(%x) {name="soft"}
      output %e },
    then_branch=body (%x) graph "t" {
      input %x: f32[1, 4]
      %t: f32[1, 4] = Exp(%x) {name="exp", origins=[0]}
      output %t }> {name="the_if"}
  %k: f32[1, 4] = Neg(%y) {name="a \"quoted\" \\ name"}
  %z: f32[1, 4] = Exp(%k) {name="last"}
  output %z
})";

TEST(Dot, IsAsWritten) {
  const std::string text =
      dotOf(modelOfText(kBodies),
            {.target = "cpu:avx2", .precisions = {DataType::F16}, .directives = {parsePin("last=f32:obey").value()}});
  const std::string path = FUSESCOPE_SOURCE_DIR "/tests/golden/dot/bodies.dot";
  if (std::getenv("UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(writeFileAtomically(path, text).ok());
  }
  EXPECT_EQ(text, readTextFile(path).value());
}

TEST(Dot, GraphvizReadsEveryNodeEdgeAndCluster) {
  const std::string text = dotOf(modelOfText(kBodies), {.target = "cpu:avx2"});
  const Parsed graph(agmemread(text.c_str()));
  ASSERT_NE(graph, nullptr) << text;
  // 4 nodes of the network and its 3 borders, 1 node and 2 borders of each body.
  EXPECT_EQ(agnnodes(graph.get()), 3 + 3 + 2 * 3) << text;
  // c, x and y of the If; k; z; in each body x and its result, and the dotted one to the holder.
  EXPECT_EQ(agnedges(graph.get()), 5 + 2 * 3) << text;
  // A segment and its fused nodes, of the network and of each body; and the bodies.
  const int fusedNodes = 2;
  EXPECT_EQ(clustersIn(graph.get()), 1 + fusedNodes + 2 * 3) << text;
}

TEST(Dot, GraphvizReadsTheSamples) {
  for (const char* sample : {"fp16_overflow", "bert_tiny", "squeezenet1_1"}) {
    auto imported = importModel(FUSESCOPE_SOURCE_DIR "/resources/samples/" + std::string(sample) + "/model.onnx");
    ASSERT_TRUE(imported.ok());
    const auto model = std::make_shared<const Model>(prepareModel(std::move(imported).value()).value());
    const Parsed graph(agmemread(dotOf(model, {.target = "cpu:avx2", .precisions = {DataType::F16}}).c_str()));
    ASSERT_NE(graph, nullptr) << sample;
    const Graph& of = *model->graph;
    EXPECT_EQ(std::size_t(agnnodes(graph.get())), of.nodeCount() + of.inputs().size() + of.outputs().size()) << sample;
  }
}

}  // namespace
}  // namespace fusescope
