// What became of each node of a file: where it stands in the plan, or why no node stands for it.
#include "session/file_network.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "ir/graph.h"
#include "session/artifact.h"
#include "session/open_model.h"
#include "tests/unit/frontends/onnx_files.h"

namespace fusescope::test {
namespace {

constexpr const char* kViewNetwork = R"(g (float[2, 4] x, float[4, 4] w) => (float[2, 4] y) {
  [pass] p = Identity (x)
  [mm] a = MatMul (p, w)
  [relu] r = Relu (a)
  [ask] s = Shape (r)
  [flat] f = Reshape (r, s)
  [unused] u = Neg (x)
  [k] c = Constant <value = float {2.0}> ()
  [sum] e = Add (c, c)
  [twice] t = Mul (f, e)
  [call] h = custom.third (t)
  [last] y = Sigmoid (h) }
<domain: "custom", opset_import: ["" : 18]>
third (a) => (b) { three = Constant <value = float {3.0}> () d = Div (a, three) b = Abs (d) })";

/// A plan of a network, and its file's nodes in it.
struct Shown {
  std::shared_ptr<const Plan> plan;
  FileNetwork file;
  InFileNodes in;

  const FileNodeFate& of(const std::string& name) const {
    for (const FileNodeFate& node : in.nodes)
      if (file.model->origins[node.origin.index].name == name) return node;
    ADD_FAILURE() << "the file has no node " << name;
    return in.nodes.front();
  }
  NodeId node(const std::string& name) const { return file.nodeOf[of(name).origin.index]; }
};

Shown shown(const std::filesystem::path& path, const PlanOptions& options = {}) {
  const auto model = openModel(path);
  EXPECT_TRUE(model.ok()) << model.error().text();
  const auto plan = makePlan(model.value(), options);
  EXPECT_TRUE(plan.ok()) << plan.error().text();
  auto file = openFileNetwork(*plan.value());
  EXPECT_TRUE(file.ok()) << file.error().text();
  auto in = inFileNodes(file.value(), *plan.value());
  EXPECT_TRUE(in.ok()) << in.error().text();
  return {plan.value(), std::move(file).value(), std::move(in).value()};
}

class FileNetworkTest : public ::testing::Test {
 protected:
  const TemporaryFolder m_folder;
  const std::filesystem::path m_path = m_folder.write("model.onnx", onnxBytes(kViewNetwork, 18, R"(, "custom" : 1)"));
};

TEST_F(FileNetworkTest, HoldsTheNodesAsTheirAuthorWroteThem) {
  const Shown all = shown(m_path);
  const Graph& graph = *all.file.model->graph;
  EXPECT_EQ(all.in.nodes.size(), 11U);
  EXPECT_EQ(graph.nodeCount(), 10U) << "a Constant node is a constant";
  EXPECT_FALSE(all.node("k").valid());
  EXPECT_EQ(graph.node(all.node("call")).op, "third") << "functions are not inlined";
  EXPECT_EQ(all.in.alone->fusedNodes.size(), graph.nodeCount()) << "each node by itself";
  const auto result = graph.findValue("a");
  ASSERT_TRUE(result);
  EXPECT_EQ(graph.value(*result).type.text(), all.plan->graph().value(*all.plan->graph().findValue("a")).type.text());
}

TEST_F(FileNetworkTest, EachNodeHasAFateAndOneThatIsGoneAReason) {
  const Shown all = shown(m_path);
  const std::map<std::string, Fate> gone{{"pass", Fate::Removed}, {"flat", Fate::Removed}, {"unused", Fate::Removed},
                                         {"ask", Fate::Folded},   {"sum", Fate::Folded},   {"k", Fate::Folded}};
  for (const FileNodeFate& node : all.in.nodes) {
    const std::string& name = all.file.model->origins[node.origin.index].name;
    const auto expected = gone.find(name);
    EXPECT_EQ(node.fate, expected == gone.end() ? Fate::Kernel : expected->second) << name;
    EXPECT_EQ(node.why.empty(), expected == gone.end()) << name << ": " << node.why;
    EXPECT_EQ(node.kernels.empty(), expected != gone.end()) << name;
    if (const NodeId here = all.file.nodeOf[node.origin.index]; here.valid()) {
      EXPECT_EQ(all.in.cover->fateOf(here), node.fate) << name;
    }
  }
  EXPECT_EQ(fateText(all.file, all.of("k")), "constant");
  EXPECT_EQ(all.of("call").representedBy.size(), 2U) << "the nodes of the function";
  EXPECT_TRUE(all.of("mm").representedBy.empty());
}

TEST_F(FileNetworkTest, TheCoverHasThePlansKernelsOverTheFilesNodes) {
  const Shown all = shown(m_path);
  EXPECT_EQ(all.of("mm").kernels, all.of("relu").kernels) << "fused";
  const FusedNode& planned = all.plan->fusedNodes[all.of("mm").kernels.front().index];
  const FusedNode* here = all.in.cover->fusedNodeOf(all.node("mm"));
  ASSERT_NE(here, nullptr);
  EXPECT_EQ(here->identity, planned.identity);
  EXPECT_EQ(here->kind, planned.kind);
  std::vector<NodeId> held;
  for (const char* name : {"mm", "relu", "twice", "call", "last"}) held.push_back(all.node(name));
  EXPECT_EQ(here->nodes, held) << "the call of a function is one node of the file";
  EXPECT_EQ(all.in.cover->fusedNodeOf(all.node("ask")), nullptr);
  for (const auto& kernel : all.in.cover->kernels) EXPECT_TRUE(kernel.isOurs) << "of ours nothing is uncertain";
}

TEST_F(FileNetworkTest, AFileThatChangedIsRefused) {
  const auto model = openModel(m_path);
  ASSERT_TRUE(model.ok());
  const auto plan = makePlan(model.value(), {});
  ASSERT_TRUE(plan.ok());
  std::ofstream(m_path, std::ios::app) << " ";
  const auto file = openFileNetwork(*plan.value());
  ASSERT_FALSE(file.ok());
  EXPECT_NE(file.error().text().find("model.onnx"), std::string::npos) << file.error().text();
}

/// What became of a node is found from both graphs, and decisions explain it: the two must agree. What is made of
/// extents alone is folded, also where it was found out first that nobody reads it any more. Gives how many nodes no
/// node stands for.
std::size_t expectFatesAsExplained(const std::filesystem::path& path) {
  const std::map<std::string, Fate> ofCode{{"normalise.constant_node", Fate::Folded},
                                           {"normalise.folded", Fate::Folded},
                                           {"normalise.extents_known", Fate::Folded},
                                           {"normalise.identity_removed", Fate::Removed},
                                           {"normalise.dropout_removed", Fate::Removed},
                                           {"normalise.noop_removed", Fate::Removed},
                                           {"normalise.dead", Fate::Removed}};
  const Shown all = shown(path);
  std::map<std::string, const Decision*> reasons;
  for (const Decision& decision : all.plan->model->decisions)
    for (const Subject& subject : decision.subjects)
      if (decision.kind == DecisionKind::Normalise) reasons.insert_or_assign(subject.text(), &decision);
  std::size_t gone = 0;
  for (const FileNodeFate& node : all.in.nodes) {
    const std::string& name = all.file.model->origins[node.origin.index].name;
    EXPECT_NE(node.fate, Fate::NotDisclosed) << name;
    if (node.fate != Fate::Folded && node.fate != Fate::Removed) {
      EXPECT_FALSE(node.kernels.empty()) << name;
      continue;
    }
    ++gone;
    const auto reason = reasons.find(name);
    if (reason == reasons.end()) {
      ADD_FAILURE() << name << " is gone without a reason";
      continue;
    }
    const std::string& code = reason->second->code;
    if (const auto expected = ofCode.find(code); expected != ofCode.end()) {
      // What changes nothing, or what nobody reads, is folded, too, where it is made of constants.
      if (expected->second == Fate::Removed && node.fate == Fate::Folded) continue;
      EXPECT_EQ(node.fate, expected->second) << name << ": " << node.why;
    }
  }
  return gone;
}

TEST(FileNetwork, FatesAgreeWithTheReasonsInSamples) {
  std::size_t gone = 0, networks = 0;
  for (const auto& entry : std::filesystem::directory_iterator(samplesFolder())) {
    if (!std::filesystem::exists(entry.path() / "model.onnx")) continue;
    SCOPED_TRACE(entry.path().string());
    gone += expectFatesAsExplained(entry.path() / "model.onnx");
    ++networks;
  }
  EXPECT_GE(networks, 4U);
  EXPECT_GE(gone, 3U);
}

TEST(FileNetwork, FatesAgreeWithTheReasonsInLargeNetworks) {
  for (const auto& [network, least] : {std::pair("fasterrcnn_mobilenet", 500), std::pair("gpt2_base", 6)}) {
    const auto path = networkWithWeights(network);
    if (!path) GTEST_SKIP() << "the zoo is not there: scripts/test makes it and sets FUSESCOPE_ZOO";
    SCOPED_TRACE(network);
    EXPECT_GE(expectFatesAsExplained(*path), static_cast<std::size_t>(least));
  }
}

}  // namespace
}  // namespace fusescope::test
