// Whole networks: every one with outputs of PyTorch against those on both backends, the others native against
// reference.
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

#include "interchange/npz.h"
#include "session/artifact.h"
#include "session/inputs/random_inputs.h"
#include "tests/support/paths.h"
#include "tests/unit/networks/network_engine.h"

namespace fusescope {
namespace {

using test::engineFor;

void expectClose(const std::map<std::string, Tensor>& actual, const std::map<std::string, Tensor>& expected,
                 const Tolerance& tolerance) {
  ASSERT_FALSE(expected.empty());
  for (const TensorComparison& one : compareAll(actual, expected, tolerance))
    EXPECT_TRUE(one.ok) << one.name << ": " << one.problem << " max|d| " << one.maxAbs;
}

/// Runs the network of a folder with its io.npz, which holds what PyTorch computed.
void expectPyTorchsOutputs(const std::filesystem::path& folder, const std::string& backend) {
  const auto arrays = readNpz(folder / "io.npz");
  ASSERT_TRUE(arrays.ok()) << arrays.error().text();
  const auto engine = engineFor(folder / "model.onnx", backend);
  const auto result = engine->run(inputsFrom(arrays.value()));
  ASSERT_TRUE(result.ok()) << result.error().text();
  expectClose(result.value().outputs, outputsFrom(arrays.value()), {.rms = {}, .absolute = 1e-4, .relative = 1e-3});
}

std::string nameOf(const testing::TestParamInfo<std::tuple<const char*, const char*>>& info) {
  return std::string(std::get<0>(info.param)) + "_" + std::get<1>(info.param);
}

class Sample : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(Sample, EqualsPyTorch) {
  const auto& [network, backend] = GetParam();
  expectPyTorchsOutputs(test::sampleFolder(network), backend);
}

INSTANTIATE_TEST_SUITE_P(AllSamples, Sample,
                         testing::Combine(testing::Values("bert_tiny", "squeezenet1_1", "tiny_resnet_dynbatch",
                                                          "long_double", "fp16_overflow", "moe_dense", "digits"),
                                          testing::Values("reference", "native")),
                         nameOf);

class ZooSample : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(ZooSample, EqualsPyTorch) {
  FUSESCOPE_REQUIRE_SHARED();
  const auto& [network, backend] = GetParam();
  expectPyTorchsOutputs(*test::sharedFolder() / "zoo" / network, backend);
}

INSTANTIATE_TEST_SUITE_P(WithOutputs, ZooSample,
                         testing::Combine(testing::Values("bert_tiny_eager", "control_flow_if", "llama_tiny",
                                                          "rnn_lstm_gru", "unet_small"),
                                          testing::Values("reference", "native")),
                         nameOf);

Tensor repeatedRows(const Tensor& rows, std::int64_t times) {
  Dims dims = rows.dims();
  dims[0] *= times;
  Tensor repeated = Tensor::zeros(rows.type(), dims);
  for (std::int64_t i = 0; i < times; ++i)
    std::copy_n(rows.bytes(), rows.byteSize(),
                repeated.mutableBytes() + i * static_cast<std::int64_t>(rows.byteSize()));
  return repeated;
}

TEST(DynamicBatch, OneEngineRunsEveryBatch) {
  const auto folder = test::sampleFolder("tiny_resnet_dynbatch");
  const auto arrays = readNpz(folder / "io.npz");
  ASSERT_TRUE(arrays.ok());
  for (const char* backend : {"reference", "native"}) {
    const auto engine = engineFor(folder / "model.onnx", backend);
    const auto inputs = inputsFrom(arrays.value()), outputs = outputsFrom(arrays.value());
    for (const std::int64_t times : {1, 3, 7, 1}) {
      std::map<std::string, Tensor> in, out;
      for (const auto& [name, tensor] : inputs) in[name] = repeatedRows(tensor, times);
      for (const auto& [name, tensor] : outputs) out[name] = repeatedRows(tensor, times);
      const auto result = engine->run(in);
      ASSERT_TRUE(result.ok()) << result.error().text();
      expectClose(result.value().outputs, out, {.rms = {}, .absolute = 1e-4, .relative = 1e-3});
    }
  }
}

constexpr const char* kNotFilled = "no filled networks; scripts/test makes them and sets FUSESCOPE_ZOO";

class BigNetwork : public testing::TestWithParam<const char*> {};

TEST_P(BigNetwork, NativeEqualsReference) {
  const auto path = test::filledNetwork(GetParam());
  if (!path) GTEST_SKIP() << kNotFilled;
  const auto native = engineFor(*path, "native"), reference = engineFor(*path, "reference");
  const auto inputs = randomInputs(native->plan());
  const auto ours = native->run(inputs), expected = reference->run(inputs);
  ASSERT_TRUE(ours.ok()) << ours.error().text();
  ASSERT_TRUE(expected.ok()) << expected.error().text();
  expectClose(ours.value().outputs, expected.value().outputs, Tolerance::standard());
}

INSTANTIATE_TEST_SUITE_P(Zoo, BigNetwork,
                         testing::Values("resnet50", "resnet50_op13", "mobilenet_v2", "densenet121", "bert_base",
                                         "gpt2_base", "vit_b_16", "llama_32l_block", "llama_scale_block"),
                         [](const auto& info) { return std::string(info.param); });

/// Random weights find no objects: its outputs are empty, so what is inside is compared. Extents depend on data.
TEST(Detection, InnerValuesOfNativeEqualReference) {
  const auto path = test::filledNetwork("fasterrcnn_mobilenet");
  if (!path) GTEST_SKIP() << kNotFilled;
  const auto native = engineFor(*path, "native"), reference = engineFor(*path, "reference");
  const auto inputs = randomInputs(native->plan());
  const auto ours = native->run(inputs, {"all"}), expected = reference->run(inputs, {"all"});
  ASSERT_TRUE(ours.ok()) << ours.error().text();
  ASSERT_TRUE(expected.ok()) << expected.error().text();
  EXPECT_GT(expected.value().marked.size(), 200U);
  expectClose(ours.value().marked, expected.value().marked, Tolerance::standard());
  expectClose(ours.value().outputs, expected.value().outputs, Tolerance::standard());
}

}  // namespace
}  // namespace fusescope
