// Networks of the zoo in OpenVINO: every node has one fate, and hardly any is not disclosed.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <set>

#include "interchange/npz.h"
#include "session/artifact.h"
#include "session/inputs/random_inputs.h"
#include "tests/openvino/openvino_networks.h"

namespace fusescope::test {
namespace {

const std::vector<std::string> kZoo = {"bert_tiny",
                                       "bert_tiny_eager",
                                       "control_flow_if",
                                       "decoder_kv",
                                       "diffusion_block",
                                       "fp16_overflow",
                                       "llama_tiny",
                                       "long_double",
                                       "moe_dense",
                                       "rnn_lstm_gru",
                                       "squeezenet1_1",
                                       "tiny_resnet_dynbatch",
                                       "unet_small",
                                       "mobilenet_v2",
                                       "resnet50",
                                       "resnet50_op13",
                                       "densenet121",
                                       "vit_b_16",
                                       "bert_base",
                                       "gpt2_base",
                                       "llama_scale_block",
                                       "llama_32l_block",
                                       "fasterrcnn_mobilenet",
                                       "swin_v2_t",
                                       "efficientnet_v2_s",
                                       "llama_scale",
                                       "llama_32l"};

PlanOptions withHint(const std::string& hint) {
  PlanOptions options;
  options.compilerOptions["hint"] = hint;
  return options;
}

class OpenvinoZoo : public OpenvinoTest {};

TEST_F(OpenvinoZoo, HasOneFateForEveryNode) {
  FUSESCOPE_REQUIRE_SHARED();
  std::printf("suite: %s\n", tableHead().c_str());
  const char* only = std::getenv("FUSESCOPE_ONLY_NETWORK");
  for (const std::string& name : kZoo) {
    if (only != nullptr && name != only) continue;
    const auto path = networkWithWeights(name);
    if (!path) {
      std::printf("suite: %s is skipped, because its weights are not filled (scripts/lib/zoo.sh)\n", name.c_str());
      continue;
    }
    const auto model = preparedModel(*path);
    ASSERT_NE(model, nullptr);
    for (const std::string hint : {"f32", "bf16"}) {
      const auto network = read(name, model, withHint(hint));
      if (!network) continue;
      std::printf("suite: %s\n", tableRow(*network, hint).c_str());
      EXPECT_EQ(problemOf(*network), "") << name << " " << hint;
      const FateCounts counts = countsOf(*network);
      EXPECT_LE(static_cast<double>(counts.notDisclosed), 0.02 * static_cast<double>(counts.nodes)) << name;
    }
  }
}

class OpenvinoRuns : public OpenvinoTest {};

TEST_F(OpenvinoRuns, KernelsAreTimedByTheNamesThatWereReadBack) {
  const auto network = read("bert_tiny", preparedModel(sampleFolder("bert_tiny") / "model.onnx"), withHint("f32"));
  ASSERT_TRUE(network);
  EXPECT_GT(countsOf(*network).removed, 0U) << "sums with biases that are 0";
  std::map<std::string, Tensor> inputs;
  const auto random = randomInputs(*network->plan);
  for (const auto& input : network->handed.file.graph.inputs)
    inputs.emplace(input.name, random.at(network->plan->graph().value(network->handed.values.at(input.name)).name));
  const auto path = *this / "inputs.npz";
  ASSERT_TRUE(writeNpz(path, inputs).ok());
  const auto profile = job().ask({.json = {{"op", "profile"}, {"runs", 10}}, .files = {{"inputs.npz", path}}}, {});
  ASSERT_TRUE(profile.ok()) << profile.error().text();
  EXPECT_EQ(profile.value().json["ms"].size(), 10U);
  const auto times = kind().kernelTimes(network->handed, profile.value());
  ASSERT_TRUE(times.ok()) << times.error().text();
  std::set<std::string> running, products, timed;
  for (const ReadBackKernel& kernel : network->told.kernels) {
    if (!kernel.once) running.insert(kernel.name);
    if (!kernel.once && kernel.kind == "matmul") products.insert(kernel.name);
  }
  for (const auto& [name, ms] : times.value()) timed.insert(name);
  // It is compiled again to be timed, and may choose another primitive for a small layer then.
  std::set<std::string> both;
  std::ranges::set_intersection(timed, running, std::inserter(both, both.end()));
  EXPECT_GE(both.size() * 10, timed.size() * 9);
  // OpenVINO counts whole microseconds, and tells nothing of a layer that takes none: only larger ones are all timed.
  EXPECT_GE(products.size(), 10U);
  for (const std::string& product : products) EXPECT_TRUE(timed.contains(product)) << product;
}

class OpenvinoPins : public OpenvinoTest {
 protected:
  /// bert_tiny with all of its products and softmaxes pinned to f32, under a hint.
  std::optional<ReadNetwork> pinned(const std::string& hint) {
    const auto model = preparedModel(sampleFolder("bert_tiny") / "model.onnx");
    PlanOptions options = withHint(hint);
    options.precisions = {DataType::BF16};
    for (const char* op : {"MatMul", "Softmax"})
      options.directives.push_back(parsePin(std::string("op:") + op + "=f32").value());
    return read("bert_tiny", model, options);
  }
};

TEST_F(OpenvinoPins, AreReadBack) {
  const auto network = pinned("bf16");
  ASSERT_TRUE(network);
  if (network->answer["hint"] != "bf16") GTEST_SKIP() << "OpenVINO grants no bf16 on this CPU";
  ASSERT_FALSE(network->handed.pins.empty());
  for (const LoweredPin& pin : network->handed.pins) EXPECT_TRUE(pin.isExpressible) << pin.how;
  EXPECT_FALSE(network->answer["kept"].empty());
  std::map<std::string, std::map<PinResult, int>> results;
  for (const ReadBackPin& pin : network->made->pins) {
    EXPECT_EQ(pin.asked, DataType::F32);
    ++results[network->plan->graph().node(pin.node).op][pin.result];
    EXPECT_EQ(pin.result == PinResult::Obeyed, pin.granted == DataType::F32);
  }
  EXPECT_GT(results["MatMul"][PinResult::Obeyed], 0) << "OpenVINO keeps products from bf16 where it is asked";
  EXPECT_GT(results["Softmax"][PinResult::Ignored], 0) << "and passes over that of a softmax";
}

TEST_F(OpenvinoPins, WhatIsAskedForAndWhatIsGrantedIsSaid) {
  const auto network = pinned("f16");
  ASSERT_TRUE(network);
  EXPECT_EQ(network->options["hint"], "f16");
  const std::string granted = network->answer["hint"].get<std::string>();
  EXPECT_EQ(network->told.compiler.options.at("granted_hint"), granted);
  EXPECT_EQ(std::ranges::count(network->told.decisions, "build.hint_granted", &Decision::code),
            granted == "f16" ? 0 : 1);
  for (const ReadBackKernel& kernel : network->told.kernels)
    EXPECT_TRUE(granted == "f16" || kernel.compute != DataType::F16) << kernel.name;
}

}  // namespace
}  // namespace fusescope::test
