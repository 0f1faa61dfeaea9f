// What ONNX Runtime's CUDA provider answered on a card, recorded (recordings/README.md).
#include "tests/support/recorded_answers.h"

namespace fusescope::test {
namespace {

class RecordedOnnxRuntime : public RecordedAnswers {
 protected:
  /// What `probe open` tells of tiny_resnet_dynbatch as a card ran it.
  Json opened(const std::string& recording, const std::vector<std::string>& options) {
    std::vector<std::string> more{"--do", "plan,run,time,profile", "--inputs", sampleInputs("tiny_resnet_dynbatch")};
    for (const std::string& option : options) more.insert(more.end(), {"--compiler-option", option});
    const ProcessResult packed = packFor("onnxruntime", sampleFolder("tiny_resnet_dynbatch") / "model.onnx", more);
    EXPECT_EQ(packed.status, 0) << packed.err;
    replay(std::filesystem::path(ONNXRUNTIME_TESTS) / "recordings" / (recording + ".zip"));
    return json({"probe", "open", result()});
  }
};

TEST_F(RecordedOnnxRuntime, ACardsKernelsAreBoundAndItIsSaidWhatTheirTimesAre) {
  const Json told = opened("tiny_resnet_dynbatch.cuda.h200", {"provider=CUDAExecutionProvider"});
  EXPECT_EQ(told["failed"], Json::array());
  const Json& plan = told["plan"];
  EXPECT_EQ(plan["compiler"]["options"]["provider"], "CUDAExecutionProvider");
  EXPECT_EQ(plan["compiler"]["options"]["used_card"], "NVIDIA H200");
  for (const Json& node : plan["nodes"]) EXPECT_NE(node["fate"], "not_disclosed") << node;
  EXPECT_GT(timedKernels(told["time"]), 0);
  const Json& layers = told["time"]["layers"][0]["layers"];
  for (const Json& layer : layers) EXPECT_EQ(layer["device"], "NVIDIA H200");
  EXPECT_TRUE(has(told["time"].dump(), "what the host took to start them")) << told["time"];
}

TEST_F(RecordedOnnxRuntime, WhatACardMultipliesInTf32IsSaid) {
  const Json narrow = opened("tiny_resnet_dynbatch.cuda.h200", {"provider=CUDAExecutionProvider"});
  EXPECT_EQ(decisionOf(narrow["plan"], "build.multiplies_tf32")["arguments"]["where"], "products and convolutions");
  const Json wide = opened("tiny_resnet_dynbatch.cuda.tf32off.h200", {"provider=CUDAExecutionProvider", "tf32=off"});
  EXPECT_TRUE(decisionOf(wide["plan"], "build.multiplies_tf32").empty());
  EXPECT_GT(narrow["errors"]["outputs"][0]["max_over_rms"].get<double>(), 1e-5);
  EXPECT_LT(wide["errors"]["outputs"][0]["max_over_rms"].get<double>(), 5e-6);
}

/// ONNX Runtime runs everything on the CPU then and says so nowhere but in its log.
TEST_F(RecordedOnnxRuntime, AProviderThatDoesNotStartIsAnError) {
  ASSERT_EQ(packFor("onnxruntime", sampleFolder("tiny_resnet_dynbatch") / "model.onnx",
                    {"--compiler-option", "provider=CUDAExecutionProvider"})
                .status,
            0);
  replay(std::filesystem::path(ONNXRUNTIME_TESTS) / "recordings" / "tiny_resnet_dynbatch.cuda.no_card.zip");
  const std::string why = problem({"probe", "open", result()});
  EXPECT_TRUE(has(why, "ONNX Runtime did not start CUDAExecutionProvider: libc")) << why;
  EXPECT_TRUE(has(why, "Everything would run by CPUExecutionProvider instead")) << why;
}

TEST_F(RecordedOnnxRuntime, Tf32OfAnotherProviderIsRefused) {
  const ProcessResult packed =
      packFor("onnxruntime", sampleFolder("tiny_resnet_dynbatch") / "model.onnx", {"--compiler-option", "tf32=off"});
  EXPECT_EQ(packed.status, 2);
  EXPECT_TRUE(
      has(packed.err, "only the provider CUDAExecutionProvider has an option that forbids multiplication in TF32"))
      << packed.err;
}

}  // namespace
}  // namespace fusescope::test
