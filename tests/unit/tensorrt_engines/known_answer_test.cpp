// Layers of TensorRT for RTX over networks of the zoo, compiled under the names that their authors gave, against what
// the same build tells of nodes that have numbers for names: what is placed by names and tensors is right.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compilers/tensorrt/engine_reader.h"
#include "compilers/tensorrt_rtx/build_log.h"
#include "compilers/tensorrt_rtx/layer_reader.h"
#include "tests/unit/compilers/tensorrt_rtx_testing.h"

namespace fusescope::test {
namespace {

Result<BuildLog> compiledLog(ProbeJob& job, CompilerInput& network) {
  const ProbeAnswer compiled = TRY(askRtx(job, "compile", network));
  return readBuildLog(TRY(readTextFile(compiled.files.at("log.jsonl"))));
}

struct Count {
  std::size_t right = 0, wrong = 0, guessedRight = 0, guessedWrong = 0;
};

class KnownAnswer : public ::testing::TestWithParam<std::string> {};

TEST_P(KnownAnswer, WhatIsPlacedUnderTheAuthorsNamesIsRight) {
  FUSESCOPE_REQUIRE_TENSORRT_RTX();
  const auto path = networkWithWeights(GetParam());
  if (!path) GTEST_SKIP() << "the network is not there";
  const auto plan = plannedFile(*path, rtxOptions());
  ASSERT_NE(plan, nullptr);
  auto numbered = makeCompilerInput(plan, CompilerInputTypes::AsPlanned, {});
  auto named = networkAsNamed(plan, *path);
  ASSERT_TRUE(numbered.ok() && named.ok());
  const auto job = rtxJob();
  ASSERT_NE(job, nullptr);
  const auto logOfNumbered = compiledLog(*job, numbered.value());
  ASSERT_TRUE(logOfNumbered.ok()) << logOfNumbered.error().text();
  const auto second = rtxJob();
  ASSERT_NE(second, nullptr);
  const auto logOfNamed = compiledLog(*second, named.value());
  ASSERT_TRUE(logOfNamed.ok()) << logOfNamed.error().text();
  const ReadBack truth = readLayers(numbered.value(), logOfNumbered.value());
  for (const bool withMetadata : {true, false}) {
    EngineFiles files;
    files.layers.layers = logOfNamed.value().layers;
    if (!withMetadata)
      for (ListedLayer& layer : files.layers.layers) layer.metadata.clear();
    const ReadBack read = readEngine(named.value(), files);
    ASSERT_EQ(read.kernels.size(), truth.kernels.size()) << "the two builds made different kernels";
    Count count;
    std::string wrong;
    for (std::size_t i = 0; i < read.kernels.size(); ++i) {
      std::set<NodeId> right;
      for (const auto& [node, certainty] : truth.kernels[i].nodes) right.insert(node);
      for (const auto& [node, certainty] : read.kernels[i].nodes) {
        const bool isRight = right.contains(node);
        // What no kernel names in the numbered build either is a view or folded: nothing tells whose it is.
        const bool isDisclosed = std::ranges::any_of(truth.kernels, [&](const ReadBackKernel& kernel) {
          return std::ranges::any_of(kernel.nodes, [&](const auto& held) { return held.first == node; });
        });
        if (!isDisclosed) continue;
        if (certainty == Certainty::Guessed) {
          ++(isRight ? count.guessedRight : count.guessedWrong);
        } else {
          ++(isRight ? count.right : count.wrong);
          if (!isRight) wrong += "\n  " + plan->graph().node(node).name + " in " + read.kernels[i].name;
        }
      }
    }
    const Placement& placement = *read.placement;
    fmt::print(
        "suite: known answer {} {}: {} layers, {} placed, {} conversions, {} not placed; {} bindings right, {} wrong; "
        "guessed {} right, {} wrong\n",
        GetParam(), withMetadata ? "with metadata" : "by names and tensors", placement.layers, placement.placed,
        placement.conversions, placement.unplaced.size(), count.right, count.wrong, count.guessedRight,
        count.guessedWrong);
    EXPECT_EQ(count.wrong, 0U) << wrong;
    EXPECT_TRUE(!withMetadata || count.right > 0);
  }
}

INSTANTIATE_TEST_SUITE_P(All, KnownAnswer,
                         ::testing::Values("bert_tiny", "unet_small", "squeezenet1_1", "tiny_resnet_dynbatch",
                                           "mobilenet_v2", "resnet50", "densenet121", "diffusion_block"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace fusescope::test
