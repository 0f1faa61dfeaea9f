// ONNX Runtime runs parts that `extract` cuts out, on what was recorded, and networks that `replace` wrote.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/json.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"

namespace fusescope::test {
namespace {

class OnnxRuntimeParts : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* python = std::getenv("FUSESCOPE_COMPILERS_PYTHON");
    if (python == nullptr) GTEST_SKIP() << "no Python with ONNX Runtime: FUSESCOPE_COMPILERS_PYTHON is not set";
    m_compiler = std::string("onnxruntime@") + python;
  }

  std::string path(const std::string& name) const { return (m_folder / name).string(); }
  static std::string sample(std::string_view network) { return (sampleFolder(network) / "model.onnx").string(); }

  /// The part that `selection` names of a sample runs in ONNX Runtime and gives what was recorded.
  void expectRuns(std::string_view network, const std::vector<std::string>& selection) const {
    std::vector<std::string> arguments{"extract", sample(network), "-o", path("part.onnx"), "--json"};
    arguments.insert(arguments.end(), selection.begin(), selection.end());
    const auto extracted = fusescopeCommand(arguments);
    ASSERT_EQ(extracted.status, 0) << network << ": " << extracted.err;
    const auto run = fusescopeCommand({"run", path("part.onnx"), "--compiler", m_compiler, "--inputs", path("part.npz"),
                                       "--expect", path("part.npz"), "--json"});
    ASSERT_EQ(run.status, 0) << network << ": " << run.err << run.out;
    EXPECT_FALSE(Json::parse(run.out)["outputs"].empty());
  }

  std::string m_compiler;
  TemporaryFolder m_folder;
};

TEST_F(OnnxRuntimeParts, OfSamplesGiveWhatTheWholeHas) {
  expectRuns("digits", {"--kernel", "stem"});
  expectRuns("bert_tiny", {"--nodes", "op:LayerNormalization"});
  expectRuns("bert_tiny", {"--nodes", "op:Softmax", "--nodes", "op:MatMul"});
  expectRuns("tiny_resnet_dynbatch", {"--segment", "segment_0"});
}

/// ONNX Runtime fuses a Relu into the Conv before it; not where an output is between them.
TEST_F(OnnxRuntimeParts, ABarrierKeepsFusionsAway) {
  const auto kernels = [&](const std::string& model) {
    const auto plan = fusescopeCommand({"plan", model, "--compiler", m_compiler, "--json"});
    EXPECT_EQ(plan.status, 0) << plan.err;
    return Json::parse(plan.out)["fused_nodes"].size();
  };
  const auto replaced = fusescopeCommand(
      {"replace", sample("digits"), "barrier@stem_out", "-o", path("new.onnx"), "--compiler", m_compiler, "--json"});
  ASSERT_EQ(replaced.status, 0) << replaced.err;
  const Json json = Json::parse(replaced.out);
  EXPECT_GT(json["kernels"]["after"], json["kernels"]["before"]) << json;
  EXPECT_EQ(kernels(path("new.onnx")), json["kernels"]["after"]);
}

}  // namespace
}  // namespace fusescope::test
