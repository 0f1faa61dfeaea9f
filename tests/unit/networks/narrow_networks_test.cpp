// Networks of the zoo in bf16 and f16, fused node by fused node: the native kernels beside the reference.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "interchange/npz.h"
#include "session/artifact.h"
#include "session/open_model.h"
#include "tests/support/node_by_node.h"
#include "tests/support/paths.h"

namespace fusescope {
namespace {

using test::NodeByNode;

class NarrowNetwork : public testing::TestWithParam<std::tuple<const char*, DataType>> {};

std::string narrowNameOf(const testing::TestParamInfo<std::tuple<const char*, DataType>>& info) {
  return std::string(std::get<0>(info.param)) + "_" + std::string(name(std::get<1>(info.param)));
}

TEST_P(NarrowNetwork, NodesAreWhatTheReferenceMakesOfThem) {
  FUSESCOPE_REQUIRE_SHARED();
  const auto& [network, type] = GetParam();
  const auto folder = *test::sharedFolder() / "zoo" / network;
  const auto model = openModel(folder / "model.onnx");
  ASSERT_TRUE(model.ok()) << model.error().text();
  const auto plan = makePlan(model.value(), {.precisions = {type}});
  ASSERT_TRUE(plan.ok()) << plan.error().text();
  const auto arrays = readNpz(folder / "io.npz");
  ASSERT_TRUE(arrays.ok()) << arrays.error().text();
  const NodeByNode found = test::runNodeByNode(*plan.value(), inputsFrom(arrays.value()));
  for (const std::string& problem : found.problems) ADD_FAILURE() << problem;
  EXPECT_EQ(found.emulated, std::vector<std::string>{});
  EXPECT_GT(found.narrow, 0);
  fmt::print("suite: {} in {}: {} fused nodes, {} native kernels, {} of them of narrow floats, worst {:.2f} ulp\n",
             network, name(type), found.fusedNodes, found.kernels, found.narrow, found.worstUlp);
}

INSTANTIATE_TEST_SUITE_P(Zoo, NarrowNetwork,
                         testing::Combine(testing::Values("bert_tiny", "squeezenet1_1", "unet_small", "llama_tiny",
                                                          "decoder_kv", "diffusion_block", "tiny_resnet_dynbatch",
                                                          "rnn_lstm_gru", "moe_dense", "bert_tiny_eager",
                                                          "control_flow_if", "fp16_overflow"),
                                          testing::Values(DataType::BF16, DataType::F16)),
                         narrowNameOf);

}  // namespace
}  // namespace fusescope
