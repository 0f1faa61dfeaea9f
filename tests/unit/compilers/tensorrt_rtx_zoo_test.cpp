// Networks of the zoo, compiled by TensorRT for RTX itself: what it says is read whole, and fits the network.
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <set>

#include "compilers/tensorrt/named_nodes.h"
#include "compilers/tensorrt_rtx/build_log.h"
#include "compilers/tensorrt_rtx/layer_reader.h"
#include "tests/unit/compilers/tensorrt_rtx_testing.h"

namespace fusescope::test {
namespace {

struct ZooCase {
  std::string network;
  double mostNotDisclosed = 0.02;  ///< share of the nodes
  PlanOptions options = rtxOptions();
};

/// What a network of doubles needs, which no TensorRT has.
PlanOptions truncated() {
  PlanOptions options = rtxOptions();
  options.directives.push_back(parseTruncate("all").value());
  assignIds(options.directives);
  return options;
}

/// Every line of the list is a layer, and every number that metadata name is one of the network.
void expectReadWhole(const CompilerInput& network, const std::string& text, const BuildLog& log) {
  std::size_t lines = 0;
  for (std::size_t at = text.find("LayerType: "); at != std::string::npos; at = text.find("LayerType: ", at + 1))
    ++lines;
  EXPECT_EQ(log.layers.size(), lines);
  for (const ListedLayer& layer : log.layers) {
    for (const std::string& name : namesInMetadata(layer.metadata))
      EXPECT_FALSE(fileNodesOf(network, name).empty()) << layer.name << ": " << name;
    for (const auto* tensors : {&layer.inputs, &layer.constants, &layer.outputs})
      for (const ListedTensor& tensor : *tensors)
        EXPECT_NE(listedType(tensor.type), DataType::Undefined) << layer.name << ": " << tensor.type;
  }
}

class TensorrtRtxZoo : public ::testing::TestWithParam<ZooCase> {};

TEST_P(TensorrtRtxZoo, EveryKernelIsReadAndEveryNodeHasAFate) {
  FUSESCOPE_REQUIRE_TENSORRT_RTX();
  const auto path = networkWithWeights(GetParam().network);
  if (!path)
    GTEST_SKIP() << GetParam().network << " is skipped, because its weights are not filled (scripts/lib/zoo.sh)";
  const auto plan = plannedFile(*path, GetParam().options);
  ASSERT_NE(plan, nullptr);
  auto handed = makeCompilerInput(plan, CompilerInputTypes::AsPlanned, {});
  ASSERT_TRUE(handed.ok()) << handed.error().text();
  const auto job = rtxJob();
  ASSERT_NE(job, nullptr);
  const auto compiled = askRtx(*job, "compile", handed.value());
  ASSERT_TRUE(compiled.ok()) << compiled.error().text();
  const auto text = readTextFile(compiled.value().files.at("log.jsonl"));
  ASSERT_TRUE(text.ok());
  const auto log = readBuildLog(text.value());
  ASSERT_TRUE(log.ok()) << log.error().text();
  expectReadWhole(handed.value(), text.value(), log.value());
  const auto start = std::chrono::steady_clock::now();
  const auto told = rtx().readBack(handed.value(), compiled.value());
  ASSERT_TRUE(told.ok()) << told.error().text();
  const auto made = readBackPlan(plan, told.value());
  ASSERT_TRUE(made.ok()) << made.error().text();
  const std::chrono::duration<double, std::milli> readBack = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(problemOfMade(*made.value()), "");
  EXPECT_EQ(extentsProblem(plan->graph(), log.value().layers, told.value()), "");

  std::map<Fate, std::size_t> fates;
  std::array<std::size_t, 4> bindings{};
  std::string silent;
  for (const NodeId id : plan->graph().order()) {
    const Fate fate = made.value()->fateOf(id);
    ++fates[fate];
    EXPECT_NE(fate, Fate::Fallback);
    if (fate == Fate::NotDisclosed) silent += " " + plan->graph().node(id).name + ":" + plan->graph().node(id).op;
  }
  for (const auto& kernel : made.value()->kernels)
    for (const Certainty certainty : kernel.certainty) ++bindings[static_cast<std::size_t>(certainty)];
  const std::size_t nodes = plan->graph().nodeCount();
  double ms = 0;
  for (const Json& phase : compiled.value().json["phases"]) ms += phase["ms"].get<double>();
  const Agreement& agreement = made.value()->agreement;
  fmt::print(
      "suite: tensorrt-rtx {}: {} nodes, {} kernels, {} in kernels, {} bindings named, {} derived, {} guessed, "
      "{} views, {} folded, {} removed, {} not disclosed{}; {:.1f} s, {} MB, read back in {:.0f} ms; {} edges, {} in "
      "one kernel by prediction, "
      "{} as made, {} by both (f1 {:.2f})\n",
      GetParam().network, nodes, log.value().layers.size(), fates[Fate::Kernel], bindings[1], bindings[2], bindings[3],
      fates[Fate::View], fates[Fate::Folded], fates[Fate::Removed], fates[Fate::NotDisclosed], silent, ms / 1e3,
      compiled.value().json["peak_bytes"].get<std::int64_t>() >> 20, readBack.count(), agreement.edges,
      agreement.predicted, agreement.made, agreement.both, agreement.f1().value_or(0));
  EXPECT_LE(static_cast<double>(fates[Fate::NotDisclosed]), GetParam().mostNotDisclosed * static_cast<double>(nodes))
      << silent;
}

INSTANTIATE_TEST_SUITE_P(All, TensorrtRtxZoo,
                         ::testing::Values(ZooCase{"bert_tiny"}, ZooCase{"bert_tiny_eager"}, ZooCase{"control_flow_if"},
                                           ZooCase{"decoder_kv"}, ZooCase{"diffusion_block"}, ZooCase{"fp16_overflow"},
                                           ZooCase{"llama_tiny"}, ZooCase{"long_double", 0.02, truncated()},
                                           ZooCase{"moe_dense"}, ZooCase{"rnn_lstm_gru", 0.1}, ZooCase{"squeezenet1_1"},
                                           ZooCase{"tiny_resnet_dynbatch"}, ZooCase{"unet_small"},
                                           ZooCase{"mobilenet_v2"}, ZooCase{"resnet50"}, ZooCase{"densenet121"},
                                           ZooCase{"vit_b_16"}, ZooCase{"bert_base"}, ZooCase{"gpt2_base"},
                                           ZooCase{"llama_scale_block"}, ZooCase{"llama_32l_block"},
                                           ZooCase{"resnet50_op13"}, ZooCase{"swin_v2_t"}, ZooCase{"efficientnet_v2_s"},
                                           ZooCase{"llama_scale"}),
                         [](const auto& info) { return info.param.network; });

}  // namespace
}  // namespace fusescope::test
