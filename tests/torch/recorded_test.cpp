// Answers of torch that were recorded, on a CPU and on a card (recordings/README.md), through every command.
#include <filesystem>

#include "tests/torch/torch_fixture.h"

namespace fusescope::test {
namespace {

namespace fs = std::filesystem;

struct Recording {
  const char* name;     ///< of its file
  const char* network;  ///< of the samples, or of the zoo
  const char* mode;
  bool isHalf;
};

class RecordedTorch : public Torch {
 protected:
  RecordedTorch() { fs::copy_file(sampleFolder("bert_tiny") / "model.onnx", m_folder / "model.onnx"); }

  /// A job for the network in the folder, which has some file as its program: what torch answered was recorded.
  ProcessResult pack(const std::vector<std::string>& more = {}) const {
    m_folder.write("model.pt2", "what torch answers is recorded");
    std::vector<std::string> arguments{"probe", "pack", m_folder / "model.onnx", "--compiler", "torch",
                                       "-o",    m_folder / "job.pyz"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return fusescopeCommand(arguments);
  }
  std::string result() const { return m_folder / "result.zip"; }
  void replay(const std::string& recording) const {
    const ProcessResult made = runProcess({"/usr/bin/env", "PYTHONDONTWRITEBYTECODE=1", "python3",
                                           TORCH_TESTS "/replay.py", "answer", m_folder / "job.pyz",
                                           TORCH_TESTS "/recordings/" + recording + ".zip", result()});
    ASSERT_EQ(made.status, 0) << made.err;
  }
};

TEST_F(RecordedTorch, EagerNodesAreKernelsAndViews) {
  ASSERT_EQ(pack({"--do", "plan,run,time,profile", "--inputs", sampleFolder("bert_tiny") / "io.npz"}).status, 0);
  replay("bert_tiny.eager.f32.cpu");
  const Json opened = json({"probe", "open", result()});
  EXPECT_EQ(opened["failed"], Json::array());
  const Json& plan = opened["plan"];
  EXPECT_EQ(plan["compiler"]["name"], "torch");
  EXPECT_EQ(plan["compiler"]["options"]["used_device"], "cpu");
  EXPECT_EQ(plan["options"]["target"], "torch");
  EXPECT_LT(opened["errors"]["outputs"][0]["max_over_rms"].get<double>(), 1e-5);
  EXPECT_EQ(timedKernels(opened["time"]), static_cast<int>(plan["kernels"].size()));
  const Json told = decisionOf(plan, "build.program_tied")["arguments"];
  EXPECT_GE(told["tied"].get<int>(), told["nodes"].get<int>() - 4) << told.dump();
  EXPECT_GT(fates(plan)["view"], 10);
  EXPECT_EQ(fates(plan)["not_disclosed"], told["nodes"].get<int>() - told["tied"].get<int>());
}

}  // namespace
}  // namespace fusescope::test
