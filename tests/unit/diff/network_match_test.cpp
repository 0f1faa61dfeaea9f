#include "diff/network_match.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "session/artifact.h"
#include "session/open_model.h"
#include "tests/support/paths.h"
#include "tests/unit/diff/rebuilt_networks.h"

namespace fusescope::test {
namespace {

std::shared_ptr<const Model> openedFile(const std::filesystem::path& path) {
  auto model = openModel(path);
  EXPECT_TRUE(model.ok()) << model.error().text();
  return model.ok() ? model.value() : nullptr;
}

std::shared_ptr<const Model> zoo(const std::string& network) {
  return openedFile(*zooModel(network));
}

std::vector<std::string> namesOf(const Model& model, const std::vector<NodeId>& nodes) {
  std::vector<std::string> names;
  for (const NodeId node : nodes) names.push_back(model.graph->node(node).name);
  std::ranges::sort(names);
  return names;
}

/// Edges of A whose ends have counterparts that are not joined so in B.
int brokenEdges(const Model& a, const Model& b, const NetworkMatch& match) {
  int broken = 0;
  for (const NodeId id : a.graph->order()) {
    const NodeId other = match.nodeOfB[id.index];
    if (!other.valid()) continue;
    const auto ofA = operands(a.graph->node(id)), ofB = operands(b.graph->node(other));
    for (std::size_t i = 0; i < ofA.size() && i < ofB.size(); ++i) {
      if (!ofA[i].valid() || !a.graph->value(ofA[i]).producer.valid()) continue;
      if (match.valueOfB[ofA[i].index] != ofB[i]) ++broken;
    }
  }
  return broken;
}

class Renamed : public ::testing::TestWithParam<const char*> {};

/// Every edge leads between counterparts: where nodes cannot be told apart, any such match is right.
TEST_P(Renamed, MatchesWholly) {
  FUSESCOPE_REQUIRE_SHARED();
  const auto a = zoo(GetParam());
  std::vector<std::string> before;
  const auto b = renamed(*a, 3, before);
  const NetworkMatch match = matchNetworks(*a, *b);
  EXPECT_TRUE(match.onlyA.empty()) << namesOf(*a, match.onlyA).front();
  EXPECT_TRUE(match.onlyB.empty());
  EXPECT_TRUE(match.changed.empty());
  EXPECT_EQ(match.count(MatchedBy::Structure), std::ssize(a->graph->order()));
  EXPECT_EQ(brokenEdges(*a, *b, match), 0);
  const NetworkMatch back = matchNetworks(*b, *a);
  EXPECT_EQ(back.count(MatchedBy::Structure), std::ssize(a->graph->order()));
}

INSTANTIATE_TEST_SUITE_P(Zoo, Renamed,
                         ::testing::Values("resnet50", "bert_tiny", "gpt2_base", "swin_v2_t", "fasterrcnn_mobilenet",
                                           "moe_dense", "densenet121", "rnn_lstm_gru", "control_flow_if"));

TEST(NetworkMatch, OneFileIsMatchedById) {
  const auto path = sampleFolder("bert_tiny") / "model.onnx";
  const auto a = openedFile(path), b = openedFile(path);
  ASSERT_NE(a, b);
  const NetworkMatch match = matchNetworks(*a, *b);
  EXPECT_EQ(match.count(MatchedBy::Id), std::ssize(a->graph->order()));
  for (const NodeId node : a->graph->order())
    for (const ValueId value : a->graph->node(node).outputs) EXPECT_EQ(match.valueOfB[value.index], value);
}

TEST(NetworkMatch, EachNodeOfRenamedResnetIsMatchedWithItself) {
  FUSESCOPE_REQUIRE_SHARED();
  const auto a = zoo("resnet50");
  for (const unsigned seed : {1U, 2U, 3U}) {
    std::vector<std::string> before;
    const auto b = renamed(*a, seed, before);
    const NetworkMatch match = matchNetworks(*a, *b);
    for (const NodeId id : a->graph->order()) {
      ASSERT_TRUE(match.nodeOfB[id.index].valid());
      EXPECT_EQ(before[match.nodeOfB[id.index].index], a->graph->node(id).name);
    }
  }
}

/// The results of the LayerNormalizations of a network, in graph order: two for each layer, and one of the embedding.
std::vector<std::string> norms(const Model& model) {
  std::vector<std::string> names;
  for (const NodeId id : model.graph->order()) {
    const Node& node = model.graph->node(id);
    if (node.is("LayerNormalization")) names.push_back(model.graph->value(node.outputs.front()).name);
  }
  return names;
}

TEST(NetworkMatch, ALayerLessIsFoundWhateverTheNames) {
  const auto whole = openedFile(sampleFolder("bert_tiny") / "model.onnx");
  const std::vector<std::string> all = norms(*whole);
  ASSERT_GE(all.size(), 5U) << "an embedding and two layers";
  const auto shorter = without(*whole, all[0], all[2]);
  const std::int64_t less = std::ssize(whole->graph->order()) - std::ssize(shorter->graph->order());
  ASSERT_GT(less, 10);
  std::vector<std::string> before;
  for (const auto& b : {shorter, renamed(*shorter, 5, before)}) {
    const NetworkMatch match = matchNetworks(*whole, *b);
    EXPECT_TRUE(match.onlyB.empty()) << namesOf(*b, match.onlyB).front();
    EXPECT_EQ(std::ssize(match.onlyA), less);
    EXPECT_LE(brokenEdges(*whole, *b, match), 4) << "but where the layer is missing";
  }
  // By names the layer that is gone is known; by structure alone two layers that are alike are not told apart.
  const NetworkMatch named = matchNetworks(*whole, *shorter);
  for (const NodeId id : named.onlyA) EXPECT_FALSE(shorter->graph->findNode(whole->graph->node(id).name));
}

TEST(NetworkMatch, AnInsertedBlockIsAllThatIsLeft) {
  FUSESCOPE_REQUIRE_SHARED();
  const auto a = zoo("resnet50");
  std::vector<NodeId> relus;
  for (const NodeId id : a->graph->order())
    if (a->graph->node(id).is("Relu")) relus.push_back(id);
  const std::string value = a->graph->value(a->graph->node(relus[relus.size() / 2]).outputs[0]).name;
  const auto once = withNode(*a, value, "Sigmoid", "added_first");
  const auto twice = withNode(*once, "added_first_out", "Tanh", "added_second");
  std::vector<std::string> before;
  const auto scrambled = renamed(*twice, 11, before);
  for (const auto& b : {twice, scrambled}) {
    const NetworkMatch match = matchNetworks(*a, *b);
    EXPECT_TRUE(match.onlyA.empty());
    ASSERT_EQ(match.onlyB.size(), 2U);
    EXPECT_TRUE(b->graph->node(match.onlyB[0]).is("Sigmoid"));
    EXPECT_TRUE(b->graph->node(match.onlyB[1]).is("Tanh"));
    EXPECT_TRUE(match.changed.empty());
  }
}

TEST(NetworkMatch, NamesThatWereCountedAnewDoNotMislead) {
  std::vector<std::int64_t> widths = widthsInTurn(12, 3);
  const auto a = chainOfBlocks(widths);
  widths.insert(widths.begin() + 1, 40);
  const auto b = chainOfBlocks(widths);  // all behind the new block are called as their neighbours were
  const NetworkMatch match = matchNetworks(*a, *b);
  EXPECT_TRUE(match.onlyA.empty());
  // The two sums in a row around the new block are alike: either may be called the new one.
  std::vector<std::string> left = namesOf(*b, match.onlyB);
  std::erase_if(left, [](const std::string& name) { return name == "sum0" || name == "sum1"; });
  EXPECT_EQ(left, (std::vector<std::string>{"narrow1", "relu1", "wide1"}));
  EXPECT_EQ(match.onlyB.size(), 4U);
  EXPECT_TRUE(match.changed.empty());
}

TEST(NetworkMatch, ANodeThatChangedKeepsItsPlace) {
  const auto a = openedFile(sampleFolder("tiny_resnet_dynbatch") / "model.onnx");
  GraphEditor editor(*a->graph);
  NodeId changed;
  for (const NodeId id : a->graph->order())
    if (a->graph->node(id).is("Conv")) changed = id;
  editor.mutableNode(changed).attributes["dilations"] = std::vector<std::int64_t>{2, 2};
  Model model = *a;
  model.graph = editor.publish().value();
  model.contentHash = hashText("changed");
  std::vector<std::string> before;
  const auto same = std::make_shared<const Model>(std::move(model));
  for (const auto& b : {same, renamed(*same, 2, before)}) {
    const NetworkMatch match = matchNetworks(*a, *b);
    EXPECT_TRUE(match.onlyA.empty() && match.onlyB.empty());
    ASSERT_EQ(match.changed.size(), 1U);
    EXPECT_EQ(match.changed[0], changed);
    EXPECT_EQ(changeText(*a->graph, changed, *b->graph, match.nodeOfB[changed.index]), "attribute dilations");
  }
}

TEST(NetworkMatch, IsTheSameEveryTime) {
  const auto a = chainOfBlocks(widthsInTurn(40, 4));
  std::vector<std::string> before;
  const auto b = renamed(*without(*a, "sum9_out", "sum12_out"), 9, before);
  const NetworkMatch first = matchNetworks(*a, *b);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(matchNetworks(*a, *b).nodeOfB, first.nodeOfB);
}

TEST(NetworkMatch, OfTwentyThousandRenamedNodesThoseAreListedThatAreMissing) {
  const auto a = chainOfBlocks(widthsInTurn(5000, 7));
  std::vector<std::string> before;
  const auto b = renamed(*without(*a, "sum2000_out", "sum2004_out"), 1, before);
  const NetworkMatch match = matchNetworks(*a, *b);
  EXPECT_TRUE(match.onlyB.empty());
  EXPECT_EQ(match.onlyA.size(), 16U);
}

}  // namespace
}  // namespace fusescope::test
