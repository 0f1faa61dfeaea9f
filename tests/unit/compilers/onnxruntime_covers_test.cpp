// Networks that ONNX Runtime optimised: the recorded ones of the shared material, and what they show each.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "compilers/onnxruntime/kernel_covers.h"
#include "compilers/onnxruntime/read_optimised.h"
#include "compilers/onnxruntime/reading.h"
#include "compilers/onnxruntime/value_comparison.h"
#include "interchange/npz.h"
#include "tests/support/networks.h"
#include "tests/support/paths.h"
#include "tests/unit/compilers/file_graphs.h"
#include "tests/unit/compilers/recorded_networks.h"

namespace fusescope {
namespace {

using onnxruntime::Reading;
using Names = std::set<std::string>;

/// A recorded network and its optimised form.
struct Sample {
  explicit Sample(const std::string& name) {
    const auto folder = *test::sharedFolder() / "data" / "readback";
    const auto network = recorded.network(name);
    const auto plan = makePlan(test::preparedModel(network), {}).value();
    handed = networkAsNamed(plan, network).value();
    auto read = onnxruntime::readNetwork(handed, folder / (name + ".ort-all.onnx"));
    EXPECT_TRUE(read.ok()) << (read.ok() ? "" : read.error().text());
    reading = std::move(read).value();
    std::ifstream(folder / (name + ".ort-covers.json")) >> expected;
  }

  const std::string& nameOf(std::uint32_t node) const { return reading->network.graph.node(node).file->name; }

  Names nodesOfKernels(const Names& kernels) const {
    Names nodes;
    const auto& optimised = reading->optimised.graph.nodes();
    for (std::size_t i = 0; i < optimised.size(); ++i)
      if (kernels.contains(optimised[i].file->name))
        for (const auto& [node, certainty] : reading->covers.nodes[i]) nodes.insert(nameOf(node));
    return nodes;
  }

  /// Every kernel holds what was recorded, and what was recorded as folded is in none.
  void check() const {
    std::size_t regions = 0;
    for (const auto& region : expected["regions"]) {
      const auto kernels = region["kernels"].get<Names>();
      EXPECT_EQ(nodesOfKernels(kernels), region["origins"].get<Names>()) << region["kernels"].dump();
      ++regions;
    }
    EXPECT_GT(regions, 60U);
    for (const auto& name : expected["folded"]) {
      const std::uint32_t node = reading->network.graph.findNode(name.get<std::string>());
      ASSERT_NE(node, onnxruntime::kNone);
      EXPECT_EQ(reading->covers.fates[node], Fate::Folded) << name;
    }
    for (const SliceCover& cover : reading->covers.covers) EXPECT_TRUE(cover.isClosed);
    for (std::uint32_t i = 0; i < reading->covers.fates.size(); ++i)
      EXPECT_NE(reading->covers.fates[i], Fate::NotDisclosed) << nameOf(i);
  }

  std::size_t count(Certainty certainty) const {
    std::size_t found = 0;
    for (const auto& nodes : reading->covers.nodes)
      found +=
          static_cast<std::size_t>(std::ranges::count(nodes, certainty, &std::pair<std::uint32_t, Certainty>::second));
    return found;
  }

  testing::RecordedNetworks recorded;
  CompilerInput handed{.plan = nullptr, .path = {}, .folder = nullptr, .file = {}};
  std::unique_ptr<Reading> reading;
  Json expected;
};

TEST(OnnxRuntimeCovers, OfATransformer) {
  FUSESCOPE_REQUIRE_SHARED();
  const Sample sample("bert_tiny");
  sample.check();
  EXPECT_EQ(sample.count(Certainty::Guessed), 0U) << "each region has one kernel that can do its work";
}

TEST(OnnxRuntimeCovers, SayWhichOptimiserMadeAKernel) {
  FUSESCOPE_REQUIRE_SHARED();
  const auto optimisersOf = [](const char* network) {
    const Sample sample(network);
    std::map<std::string, int> counts;
    for (const ReadBackKernel& kernel :
         onnxruntime::readOptimised(sample.reading->network, sample.reading->optimised, sample.reading->covers).kernels)
      if (!kernel.optimiser.empty()) ++counts[kernel.optimiser];
    return counts;
  };
  EXPECT_EQ(optimisersOf("bert_tiny"), (std::map<std::string, int>{{"MatMulAddFusion", 36},  // with two reshapes each
                                                                   {"MatMulScaleFusion", 2},
                                                                   {"SkipLayerNormFusion", 5},
                                                                   {"TransposeOptimizer", 2}}));
  const auto ofUnet = optimisersOf("unet_small");
  EXPECT_EQ(ofUnet.at("QuickGeluFusion"), 10);
  EXPECT_EQ(ofUnet.at("NchwcTransformer"), 29);  // convolutions, a pooling, and the reorders
}

TEST(OnnxRuntimeCovers, OfConvolutionsOverBlocksOfChannels) {
  FUSESCOPE_REQUIRE_SHARED();
  const Sample sample("unet_small");
  sample.check();
  const ReadBack told =
      onnxruntime::readOptimised(sample.reading->network, sample.reading->optimised, sample.reading->covers);
  EXPECT_EQ(told.kernels.size(), sample.reading->file.graph.nodes.size());
  std::size_t toBlocks = 0, fromBlocks = 0;
  for (const ReadBackConversion& conversion : told.conversions) {
    toBlocks += conversion.from == "NCHW" && conversion.to == "NCHWc";
    fromBlocks += conversion.from == "NCHWc" && conversion.to == "NCHW";
  }
  const auto isReorder = [](std::string_view op) {
    return [op](const onnxlib::FileNode& node) { return node.op == op; };
  };
  EXPECT_EQ(toBlocks, std::ranges::count_if(sample.reading->file.graph.nodes, isReorder("ReorderInput")));
  EXPECT_EQ(fromBlocks, std::ranges::count_if(sample.reading->file.graph.nodes, isReorder("ReorderOutput")));
}

// Two convolutions with x * Sigmoid(x) behind each and a sum between, as in YOLO: the results of all of ONNX Runtime's
// kernels have names of its own, and only the kernels' names say what they make.
TEST(OnnxRuntimeCovers, OfActivationsOverBlocksOfChannels) {
  const auto plan = makePlan(test::preparedModel(test::sampleFolder("digits") / "model.onnx"), {}).value();
  const CompilerInput handed{
      .plan = plan,
      .path = {},
      .folder = nullptr,
      .file = {.graph = testing::fileGraph({"in x", "const w", "out y", "Conv n0 x w -> v0", "Sigmoid n1 v0 -> v1",
                                            "Mul n2 v0 v1 -> v2", "Conv n3 v2 w -> v3", "Add n4 v2 v3 -> v4",
                                            "Conv n5 v4 w -> v5", "Sigmoid n6 v5 -> v6", "Mul n7 v5 v6 -> y"})}};
  const onnxruntime::Network network(handed);
  const onnxlib::FileGraph file = testing::fileGraph(
      {"in x", "const w", "out y", "com.microsoft.nchwc:Conv v0_nchwc x w -> r0",
       "com.microsoft:QuickGelu n2/QuickGeluFusion/ r0 -> r1", "com.microsoft.nchwc:Conv v3_nchwc r1 w _ r1 -> r2",
       "com.microsoft.nchwc:Conv v5_nchwc r2 w -> r3", "com.microsoft:QuickGelu n7/QuickGeluFusion/ r3 -> r4",
       "com.microsoft.nchwc:ReorderOutput ReorderOutput r4 -> y"});
  onnxruntime::Optimised optimised(file);
  onnxruntime::bindTensors(network, optimised);
  const onnxruntime::KernelCovers covers = onnxruntime::coverKernels(network, optimised);
  const std::vector<std::vector<std::uint32_t>> expected{{0}, {1, 2}, {3, 4}, {5}, {6, 7}};
  for (std::size_t kernel = 0; kernel < expected.size(); ++kernel) {
    std::vector<std::uint32_t> nodes;
    for (const auto& [node, certainty] : covers.nodes[kernel]) nodes.push_back(node);
    EXPECT_EQ(nodes, expected[kernel]) << file.nodes[kernel].name;
  }
}

// In f16 a Softmax has no kernel of its own: ONNX Runtime makes several, and none but the last has a name that tells.
TEST(OnnxRuntimeCovers, OfANodeThatBecameSeveralKernels) {
  const auto plan = makePlan(test::preparedModel(test::sampleFolder("digits") / "model.onnx"), {}).value();
  const CompilerInput handed{.plan = plan,
                             .path = {},
                             .folder = nullptr,
                             .file = {.graph = testing::fileGraph({"in x", "out y", "Exp n0 x -> v0",
                                                                   "Softmax n1 v0 -> v1", "Neg n2 v1 -> y"})}};
  const onnxruntime::Network network(handed);
  const onnxlib::FileGraph file = testing::fileGraph(
      {"in x", "out y", "const axes", "Exp n0 x -> v0", "ReduceMax _ v0 axes -> r0", "Sub _ v0 r0 -> r1",
       "Exp _ r1 -> r2", "ReduceSum _ r2 axes -> r3", "Div _ r2 r3 -> v1", "Neg n2 v1 -> y"});
  onnxruntime::Optimised optimised(file);
  onnxruntime::bindTensors(network, optimised);
  const onnxruntime::KernelCovers covers = onnxruntime::coverKernels(network, optimised);
  for (std::size_t kernel = 1; kernel < 6; ++kernel) {
    ASSERT_EQ(covers.nodes[kernel].size(), 1U) << file.nodes[kernel].op;
    EXPECT_EQ(covers.nodes[kernel][0].first, 1U) << file.nodes[kernel].op;
    EXPECT_EQ(covers.nodes[kernel][0].second, kernel == 5 ? Certainty::Named : Certainty::Derived);
  }
}

TEST(OnnxRuntimeTypes, AreThoseThatOperatorsMakeOfWhatIsKnown) {
  onnxlib::FileGraph file = testing::fileGraph(
      {"in x", "const w", "com.microsoft:FusedMatMul _ x w -> a", "Cast _ a -> b", "Greater _ b half -> c",
       "Where _ c b b -> d", "Shape _ d -> e", "com.acme:Own _ d -> f", "Relu _ f -> g", "QuantizeLinear _ a w -> h",
       "com.microsoft:QLinearSigmoid _ h -> i", "out g"});
  file.inputs[0].type.dtype = DataType::F32;
  file.nodes[1].attributes.push_back(
      {.name = "to", .reference = {}, .value = onnxlib::elementTypeNumber(DataType::F16)});
  onnxruntime::Optimised optimised(file);
  onnxruntime::inferTypes(optimised, {{"", 17}});
  const std::vector<std::pair<std::string_view, DataType>> expected{
      {"a", DataType::F32}, {"b", DataType::F16},       {"c", DataType::Bool},
      {"d", DataType::F16}, {"e", DataType::I64},       {"h", DataType::U8},
      {"i", DataType::U8},  {"f", DataType::Undefined}, {"g", DataType::Undefined},
  };
  for (const auto& [name, type] : expected)
    EXPECT_EQ(optimised.types[optimised.graph.findTensor(name)].type, type) << name;
}

// A Transpose of weights that are dequantised is applied to their codes before anything runs; the kernel that
// dequantises them has another operand then, and the name of what the Transpose made.
TEST(OnnxRuntimeCovers, OfCodesThatWereTransposedBefore) {
  const auto plan = makePlan(test::preparedModel(test::sampleFolder("digits") / "model.onnx"), {}).value();
  const CompilerInput handed{
      .plan = plan,
      .path = {},
      .folder = nullptr,
      .file = {.graph = testing::fileGraph({"in x", "const w", "const s", "out y", "DequantizeLinear n0 w s -> v0",
                                            "Transpose n1 v0 -> v1", "MatMul n2 x v1 -> y"})}};
  const onnxruntime::Network network(handed);
  const onnxlib::FileGraph file =
      testing::fileGraph({"in x", "const QuantizeLinear_out0", "const s", "out y",
                          "DequantizeLinear DequantizeLinear QuantizeLinear_out0 s -> v1", "MatMul n2 x v1 -> y"});
  onnxruntime::Optimised optimised(file);
  onnxruntime::bindTensors(network, optimised);
  const onnxruntime::KernelCovers covers = onnxruntime::coverKernels(network, optimised);
  ASSERT_EQ(covers.nodes[0].size(), 1U);
  EXPECT_EQ(covers.nodes[0][0], (std::pair<std::uint32_t, Certainty>(0, Certainty::Derived)));
  EXPECT_EQ(covers.fates, (std::vector{Fate::Kernel, Fate::Folded, Fate::Kernel}));
}

TEST(OnnxRuntimeCovers, OfIntegers) {
  FUSESCOPE_REQUIRE_SHARED();
  const Sample sample("vit_small-int8");
  sample.check();
}

/// Gives zeros for whatever it is asked for, but for one value of the optimised network.
class AlmostEqualValues final : public ProbeJob {
 public:
  explicit AlmostEqualValues(std::string other) : m_other(std::move(other)) {}
  const Json& opened() const override { return m_opened; }
  Result<ProbeAnswer> ask(const ProbeRequest& request, const StopToken& /*stop*/,
                          const Progress& /*progress*/) override {
    NpzArrays values;
    for (const Json& name : request.json["outputs"]) {
      const bool isOther = request.json.contains("optimised") && name == m_other;
      const std::vector<float> numbers{0, isOther ? 1.0F : 0.0F};
      values.emplace(name.get<std::string>(), Tensor::copyOf<float>(DataType::F32, {2}, numbers));
    }
    const auto path = m_folder / "outputs.npz";
    TRY(writeNpz(path, values));
    return ProbeAnswer{.json = Json::object(), .files = {{"outputs.npz", path}}};
  }
  bool isThere() const override { return true; }

 private:
  std::string m_other;
  Json m_opened;
  test::TemporaryFolder m_folder;
};

TEST(OnnxRuntimeCovers, NumbersThatDifferAreADecision) {
  FUSESCOPE_REQUIRE_SHARED();
  Sample sample("bert_tiny");
  AlmostEqualValues job("layer_norm");
  const auto refuted = onnxruntime::compareValues(*sample.reading, {}, job, {});
  ASSERT_TRUE(refuted.ok()) << refuted.error().text();
  ASSERT_EQ(refuted.value().size(), 1U);
  EXPECT_EQ(refuted.value()[0].code, "build.numbers_differ");
  EXPECT_EQ(refuted.value()[0].subjects, std::vector{Subject::value("layer_norm")});
  EXPECT_GT(sample.count(Certainty::Verified), 0U);
}

}  // namespace
}  // namespace fusescope
