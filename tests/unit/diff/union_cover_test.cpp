// Two plans as one cover, and their differences by block.
#include "diff/union_cover.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "diff/diff_plans.h"
#include "diff/difference_groups.h"
#include "diff/fusion_words.h"
#include "ir/graph.h"
#include "session/artifact.h"
#include "session/calibrate.h"
#include "session/inputs/load_samples.h"
#include "session/open_model.h"
#include "tests/support/paths.h"
#include "tests/unit/diff/made_blocks.h"
#include "tests/unit/frontends/onnx_files.h"

namespace fusescope::test {
namespace {

std::shared_ptr<const Model> fileOf(const std::string& sample) {
  auto model = openModel(sampleFolder(sample) / "model.onnx");
  EXPECT_TRUE(model.ok()) << model.error().text();
  return model.ok() ? model.value() : nullptr;
}

std::shared_ptr<const Plan> planBy(const std::shared_ptr<const Model>& model, const PlanOptions& options) {
  auto plan = makePlan(model, options);
  EXPECT_TRUE(plan.ok()) << plan.error().text();
  return plan.ok() ? plan.value() : nullptr;
}

/// Layers of an encoder, each a product with a bias and an activation, and three nodes that do not fuse with them.
std::shared_ptr<const Model> encoderOf(int layers) {
  std::string text =
      "enc (float[2, 4] x) => (float[2, 4] y) <float[4, 4] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, "
      "5, 6, 7}, float[4] b = {1, 2, 3, 4}> {";
  std::string value = "x";
  for (int layer = 0; layer < layers; ++layer) {
    const std::string at = "/enc/layer." + std::to_string(layer), to = "v" + std::to_string(layer);
    text += "[\"" + at + "/mul\"] m" + to + " = MatMul (" + value + ", w) [\"" + at + "/add\"] a" + to + " = Add (m" +
            to + ", b) [\"" + at + "/relu\"] r" + to + " = Relu (a" + to + ") [\"" + at + "/soft\"] s" + to +
            " = Softmax <axis = 1> (r" + to + ") [\"" + at + "/cum\"] " + (layer + 1 == layers ? "y" : to) +
            " = Transpose <perm = [0, 1]> (s" + to + ")";
    value = to;
  }
  const TemporaryFolder folder;
  auto model = openModel(folder.write("model.onnx", onnxBytes(text + "}")));
  EXPECT_TRUE(model.ok()) << model.error().text();
  return model.ok() ? model.value() : nullptr;
}

UnionCover unionOf(const std::shared_ptr<const Cover>& a, const std::shared_ptr<const Cover>& b) {
  auto both = unionCover(a, b);
  EXPECT_TRUE(both.ok()) << both.error().text();
  return both.ok() ? std::move(both).value() : UnionCover();
}

/// Every node of both sides is in the union, and every kernel in one group of it.
void expectWhole(const UnionCover& both) {
  for (const UnionLevel& level : both.levels) {
    const Graph& graph = level.cover->graph();
    std::set<std::uint32_t> nodes;
    for (const FusedNode& group : level.cover->fusedNodes)
      for (const NodeId node : group.nodes) EXPECT_TRUE(nodes.insert(node.index).second) << "a node is in two groups";
    const auto check = [&](const Cover* side, const std::vector<NodeId>& nodeOf, bool ofA) {
      if (side == nullptr) return;
      for (const NodeId node : side->graph().order()) EXPECT_TRUE(graph.has(nodeOf[node.index]));
      std::set<std::uint32_t> kernels;
      for (const UnionGroup& group : level.groups)
        for (const std::uint32_t kernel : ofA ? group.a : group.b) EXPECT_TRUE(kernels.insert(kernel).second);
      for (std::size_t i = 0; i < side->fusedNodes.size(); ++i)
        EXPECT_TRUE(side->fusedNodes[i].nodes.empty() || kernels.contains(static_cast<std::uint32_t>(i)));
    };
    check(level.a, level.nodeOfA, true);
    check(level.b, level.nodeOfB, false);
    EXPECT_EQ(level.groups.size(), level.cover->fusedNodes.size());
  }
}

std::vector<DifferenceGroup> groupsOf(const Cover& a, const Cover& b) {
  const DiffInput inputOfA{.cover = &a, .label = "a"}, inputOfB{.cover = &b, .label = "b"};
  auto diff = diffPlans(inputOfA, inputOfB);
  EXPECT_TRUE(diff.ok()) << diff.error().text();
  return groupDifferences(inputOfA, inputOfB, diff.value());
}

TEST(UnionCover, ASplitIsAGroupOfBothSidesKernels) {
  const auto model = fileOf("squeezenet1_1");
  PlanOptions split;
  split.directives = {splitDirective("node_Conv_7")};
  const auto a = planBy(model, {}), b = planBy(model, split);
  const UnionCover both = unionOf(a, b);
  expectWhole(both);
  EXPECT_TRUE(both.oneGraph);
  EXPECT_EQ(both.cover->model, model) << "one graph needs no other";
  const std::vector<UnionGroup>& groups = both.levels.front().groups;
  const auto differs = [](const UnionGroup& group) { return !group.same; };
  ASSERT_EQ(std::ranges::count_if(groups, differs), 1);
  const auto group = std::ranges::find_if(groups, differs);
  EXPECT_EQ(group->a.size(), 1U);
  EXPECT_EQ(group->b.size(), 2U);
  const FusedNode& fused = both.cover->fusedNodes[static_cast<std::size_t>(group - groups.begin())];
  EXPECT_EQ(fused.nodes.size(), 2U);
  EXPECT_EQ(fused.identity, a->fusedNodes[group->a.front()].identity) << "it covers what A's kernel covers";
}

TEST(UnionCover, CodesThatOptionsPutInAreNodesOfTheUnion) {
  const auto model = fileOf("digits");
  const auto floats = planBy(model, {.target = "cpu"});
  const auto samples = loadSamples(*floats, {.paths = {sampleInputs("digits")}, .batchAxis = 0});
  ASSERT_TRUE(samples.ok());
  PlanOptions options{.target = "cpu", .precisions = {DataType::I8}};
  options.ranges = std::make_shared<const Ranges>(calibrate(*floats, samples.value(), {}).value());
  const auto codes = planBy(model, options);
  for (const bool swapped : {false, true}) {
    const UnionCover both = swapped ? unionOf(codes, floats) : unionOf(floats, codes);
    expectWhole(both);
    EXPECT_FALSE(both.oneGraph);
    const Graph& graph = both.cover->graph();
    const auto quantisers =
        std::ranges::count_if(graph.order(), [&](NodeId node) { return graph.node(node).is("QuantizeLinear"); });
    EXPECT_GT(quantisers, 0);
    EXPECT_GE(graph.nodeCount(), codes->graph().nodeCount());
  }
}

TEST(UnionCover, HoldsAReadBackPlan) {
  const auto asked = askedOf();
  const auto made =
      madeOf(asked, {kernelOver(*asked, "first", {"wide0"}), kernelOver(*asked, "rest", {"relu0", "narrow0"})},
             {{"sum0", Fate::Folded}});
  const UnionCover both = unionOf(ours(), made);
  const UnionLevel& network = both.levels.front();
  EXPECT_EQ(network.nodeOfA.size(), network.nodeOfB.size());
  EXPECT_TRUE(std::ranges::any_of(network.groups, [](const UnionGroup& group) { return !group.same; }));
}

TEST(UnionCover, HoldsBodies) {
  const auto path = zooModel("control_flow_if");
  if (!path) GTEST_SKIP() << "the network is not there";
  const auto model = openModel(*path);
  ASSERT_TRUE(model.ok());
  const UnionCover both = unionOf(planBy(model.value(), {}), planBy(model.value(), {.precisions = {DataType::F16}}));
  expectWhole(both);
  EXPECT_EQ(both.levels.size(), both.cover->bodies.size() + 1);
}

TEST(DifferenceGroups, OneChangeInAllCopiesOfABlockIsOneGroup) {
  const auto model = encoderOf(4);
  PlanOptions split;
  for (int layer = 0; layer < 4; ++layer)
    split.directives.push_back(splitDirective("/enc/layer." + std::to_string(layer) + "/add"));
  assignIds(split.directives);
  const auto groups = groupsOf(*planBy(model, {}), *planBy(model, split));
  const auto isFusion = [](const DifferenceGroup& group) { return group.topic == DifferenceTopic::Fusion; };
  // The causes are four directives, so that they are four groups unless one directive asks for all of them.
  for (const DifferenceGroup& group : groups) {
    if (!isFusion(group)) continue;
    EXPECT_EQ(group.copies, 1U);
  }
  split.directives = {splitDirective("/enc/layer.*/add")};
  assignIds(split.directives);
  const auto together = groupsOf(*planBy(model, {}), *planBy(model, split));
  ASSERT_EQ(std::ranges::count_if(together, isFusion), 1);
  const DifferenceGroup& group = *std::ranges::find_if(together, isFusion);
  EXPECT_EQ(group.sites.size(), 4U);
  EXPECT_EQ(group.copies, 4U);
  EXPECT_EQ(group.of, 4U);
  EXPECT_EQ(group.what, "one kernel → two: Relu apart");
  EXPECT_NE(placeText(group).find("the same in ×4"), std::string::npos) << placeText(group);
  ASSERT_EQ(group.because.size(), 1U);
  EXPECT_NE(group.because[0].find("--split"), std::string::npos);
}

TEST(DifferenceGroups, SayInHowManyCopiesTheyAre) {
  const auto model = encoderOf(4);
  PlanOptions split;
  split.directives = {splitDirective("/enc/layer.2/add")};
  assignIds(split.directives);
  const auto groups = groupsOf(*planBy(model, {}), *planBy(model, split));
  ASSERT_FALSE(groups.empty());
  EXPECT_EQ(groups.front().copies, 1U);
  EXPECT_EQ(groups.front().of, 4U);
  EXPECT_EQ(placeText(groups.front()), "layer.2 alone");
  const Json json = toJson(groups);
  EXPECT_EQ(json[0]["of_copies"], 4);
  EXPECT_EQ(json[0]["sites"][0]["block"], "layer.2");
  EXPECT_NE(printGroups(groups).find("Relu apart, layer.2 alone"), std::string::npos) << printGroups(groups);
}

TEST(DifferenceGroups, TypesOfOneBlockAreOneGroup) {
  const auto model = encoderOf(4);
  const auto groups = groupsOf(*planBy(model, {}), *planBy(model, {.precisions = {DataType::F16}}));
  const auto types = std::ranges::find(groups, DifferenceTopic::Types, &DifferenceGroup::topic);
  ASSERT_NE(types, groups.end()) << printGroups(groups);
  EXPECT_EQ(types->what, "f32 → f16");
  EXPECT_EQ(types->copies, 4U);
  EXPECT_EQ(std::ranges::count(groups, DifferenceTopic::Types, &DifferenceGroup::topic), 1) << printGroups(groups);
}

TEST(DifferenceGroups, OfOnePlanThereAreNone) {
  const auto model = encoderOf(2);
  EXPECT_TRUE(groupsOf(*planBy(model, {}), *planBy(model, {})).empty());
}

TEST(FusionWords, SayWhatComesApart) {
  const KernelOps all{{"MatMul", "Add", "Gelu"}, {"m", "a", "g"}}, most{{"MatMul", "Add"}, {"m", "a"}};
  const KernelOps gelu{{"Gelu"}, {"g"}}, add{{"Add"}, {"a"}}, rest{{"Gelu", "Add"}, {"g", "a"}};
  EXPECT_EQ(fusionDetail({all}, {most, gelu}), "Gelu apart");
  EXPECT_EQ(fusionDetail({most, gelu}, {all}), "Gelu merged in");
  EXPECT_EQ(fusionDetail({most, gelu}, {{{"MatMul"}, {"m"}}, rest}), "Add elsewhere");
  EXPECT_EQ(fusionDetail({most}, {{{"MatMul", "Add", "QuantizeLinear"}, {"m", "a", "q"}}}), "with QuantizeLinear in B");
  EXPECT_EQ(fusionDetail({most, gelu}, {{{"MatMul"}, {"m"}}, rest}, false), "") << "names do not tell";
  EXPECT_EQ(fusionDetail({all}, {}), "");
  EXPECT_EQ(fusionCounts(1, 3), "one kernel → three");
  EXPECT_EQ(fusionCounts(2, 2), "two kernels → two others");
  EXPECT_EQ(kernelCountsText(1, 3), "here one kernel, there three");
}

}  // namespace
}  // namespace fusescope::test
