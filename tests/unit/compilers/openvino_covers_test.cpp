// Networks that OpenVINO compiled: the recorded ones of the shared material. They were compiled without numbers for
// names, and with other weights than those that are here.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "base/files.h"
#include "compilers/openvino/openvino_read_back.h"
#include "tests/support/networks.h"
#include "tests/support/paths.h"
#include "tests/unit/compilers/recorded_networks.h"

namespace fusescope {
namespace {

using Names = std::set<std::string>;

struct RecordedGraph {
  RecordedGraph(const std::string& network, const std::string& suffix) {
    const auto folder = *test::sharedFolder() / "data" / "readback";
    const auto path = networks.network(network);
    plan = makePlan(test::preparedModel(path), {}).value();
    handed = networkAsNamed(plan, path).value();
    Json ops;
    std::ifstream(folder / (network + ".ov-model.json")) >> ops;
    const Json model{{"format", "fusescope.openvino_model"}, {"version", 1}, {"ops", ops}};
    graph = executionGraph(readTextFile(folder / (network + suffix + ".ov-exec.xml")).value()).value();
    told = openvinoReadBack(handed, graph, importedNetwork(model.dump()).value());
    const auto read = readBackPlan(plan, told);
    EXPECT_TRUE(read.ok()) << (read.ok() ? "" : read.error().text());
    made = read.value();
  }

  NodeId node(const std::string& name) const { return plan->graph().findNode(name).value(); }
  std::size_t count(Fate fate) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(plan->graph().order(), [&](NodeId id) { return made->fateOf(id) == fate; }));
  }
  /// How it is known that the first kernel that holds it does.
  Certainty certaintyOf(const std::string& name) const {
    for (const ReadBackKernel& kernel : told.kernels)
      for (const auto& [id, certainty] : kernel.nodes)
        if (id == node(name)) return certainty;
    ADD_FAILURE() << name << " is in no kernel";
    return {};
  }
  const ReadBackKernel* kernelOf(const std::string& name) const {
    const auto found = std::ranges::find_if(told.kernels, [&](const ReadBackKernel& kernel) {
      return std::ranges::any_of(kernel.nodes, [&](const auto& held) { return held.first == node(name); });
    });
    return found == told.kernels.end() ? nullptr : &*found;
  }
  Names nodesWith(const std::string& name) const {
    Names names;
    if (const ReadBackKernel* kernel = kernelOf(name))
      for (const auto& [id, certainty] : kernel->nodes) names.insert(plan->graph().node(id).name);
    return names;
  }

  testing::RecordedNetworks networks;
  std::shared_ptr<const Plan> plan;
  CompilerInput handed{.plan = nullptr, .path = {}, .folder = nullptr, .file = {}};
  ExecutionGraph graph;
  ReadBack told;
  std::shared_ptr<const ReadBackPlan> made;
};

TEST(OpenvinoCovers, OfATransformer) {
  FUSESCOPE_REQUIRE_SHARED();
  const RecordedGraph network("bert_tiny", "-f32");
  EXPECT_EQ(network.count(Fate::NotDisclosed), 0U);
  EXPECT_EQ(network.nodesWith("node_add_1"), (Names{"node_add", "node_add_1"}));
  EXPECT_EQ(network.certaintyOf("node_add"), Certainty::Named);
  EXPECT_EQ(network.certaintyOf("node_layer_norm"), Certainty::Derived) << "only a part of it is named";
  EXPECT_EQ(network.nodesWith("node_MatMul_99"), Names{"node_MatMul_99"});
  EXPECT_EQ(network.nodesWith("node_Mul_93"), (Names{"node_MatMul_54", "node_linear", "node_Mul_93"}))
      << "the scale was moved back into the product that makes what it scales";
  EXPECT_EQ(network.certaintyOf("node_MatMul_54"), Certainty::Named);
  EXPECT_EQ(network.certaintyOf("node_linear"), Certainty::Guessed);
  EXPECT_EQ(network.certaintyOf("node_Mul_93"), Certainty::Guessed);
  EXPECT_EQ(network.nodesWith("node_Erf_115"), (Names{"node_MatMul_112", "node_linear_4", "node_Div_114",
                                                      "node_Erf_115", "node_Add_117", "node_Mul_119", "node_gelu"}));
  EXPECT_EQ(network.certaintyOf("node_Erf_115"), Certainty::Derived);
  EXPECT_EQ(network.made->fateOf(network.node("node_view")), Fate::View);
}

TEST(OpenvinoCovers, HoldWhatIsExpected) {
  FUSESCOPE_REQUIRE_SHARED();
  const RecordedGraph network("bert_tiny", "-f32");
  Json expected;
  std::ifstream(*test::sharedFolder() / "data" / "readback" / "bert_tiny-f32.ov-covers.json") >> expected;
  // Known wrong there: where the scales of attention and sums with zeros are, and where a GELU behind a product is.
  const auto isKnownWrong = [&](const std::string& name) {
    const std::string& op = network.plan->graph().node(network.node(name)).op;
    return op == "Mul" || op == "Add" || op == "Div" || op == "Erf";
  };
  std::size_t compared = 0;
  for (const Json& cover : expected) {
    Names nodes;
    for (const Json& origin : cover["origins"])
      if (network.plan->graph().findNode(origin.get<std::string>()) && !isKnownWrong(origin)) nodes.insert(origin);
    for (const std::string& name : nodes) {
      if (network.made->fateOf(network.node(name)) == Fate::View) continue;
      Names held = network.nodesWith(name);
      std::erase_if(held, isKnownWrong);
      EXPECT_EQ(held, nodes) << cover["layer"];
      ++compared;
    }
  }
  EXPECT_GT(compared, 40U);
}

TEST(OpenvinoCovers, TypesAreThoseThatWereGranted) {
  FUSESCOPE_REQUIRE_SHARED();
  const RecordedGraph network("bert_tiny", "-bf16");
  EXPECT_EQ(network.kernelOf("node_MatMul_54")->compute, DataType::BF16);
  EXPECT_EQ(network.kernelOf("node_layer_norm")->compute, DataType::F32);
  const auto casts = std::ranges::count(network.told.conversions, true, &ReadBackConversion::isCast);
  EXPECT_GE(casts, 8) << "between f32 and bf16";
  for (const ReadBackKernel& kernel : network.told.kernels)
    EXPECT_FALSE(kernel.once && kernel.ms) << kernel.name << " does not run in each run";
}

TEST(OpenvinoCovers, OfQuantisedNetworksAreSaidAsFarAsTheyAreKnown) {
  FUSESCOPE_REQUIRE_SHARED();
  const RecordedGraph network("vit_small-int8", "-f32");
  const std::size_t nodes = network.plan->graph().nodeCount();
  EXPECT_LE(network.count(Fate::NotDisclosed), nodes / 10) << "of " << nodes;
  for (const ReadBackKernel& kernel : network.told.kernels)
    for (const auto& [id, certainty] : kernel.nodes)
      EXPECT_NE(certainty, Certainty::Verified) << "nothing is compared with OpenVINO's numbers";
}

}  // namespace
}  // namespace fusescope
