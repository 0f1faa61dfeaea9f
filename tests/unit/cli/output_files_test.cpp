#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"
#include "tests/unit/cli/cli_fixture.h"

namespace fusescope::test {
namespace {

/// Copies of a sample's network and inputs, to be in danger.
class OutputFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::copy_file(sampleFolder("fp16_overflow") / "model.onnx", m_model);
    std::filesystem::copy_file(sampleFolder("fp16_overflow") / "io.npz", m_inputs);
  }
  /// That the command ends with bad use, says at which option, and leaves both files as they are.
  void refused(std::vector<std::string> arguments, const std::string& option) const {
    arguments.insert(arguments.begin() + 1, m_model);
    const auto result = fusescopeCommand(arguments);
    EXPECT_EQ(result.status, 2) << arguments[0];
    EXPECT_NE(result.err.find(option), std::string::npos) << result.err;
    EXPECT_NE(result.err.find("would be written over"), std::string::npos) << result.err;
    EXPECT_EQ(readTextFile(m_model).value(), readTextFile(sampleFolder("fp16_overflow") / "model.onnx").value());
    EXPECT_EQ(readTextFile(m_inputs).value(), readTextFile(sampleFolder("fp16_overflow") / "io.npz").value());
  }

  TemporaryFolder m_folder;
  std::string m_model = (m_folder / "model.onnx").string(), m_inputs = (m_folder / "io.npz").string();
};

TEST_F(OutputFiles, NeverReplaceTheNetwork) {
  refused({"plan", "-o", m_model}, "--output");
  refused({"build", "-o", m_model}, "--output");
  refused({"export", "--to", "directives", "-o", m_model}, "--output");
  refused({"run", "--inputs", m_inputs, "--outputs", m_model}, "--outputs");
  refused({"calibrate", "--inputs", m_inputs, "-o", m_model}, "--output");
  refused({"tune", "--precision", "f16", "--max-error", "1", "--inputs", m_inputs, "-o", m_model}, "--output");
  std::filesystem::create_symlink(m_model, m_folder / "link");
  refused({"plan", "-o", (m_folder / "link").string()}, "--output");
}

TEST_F(OutputFiles, NeverReplaceTheInputs) {
  refused({"run", "--inputs", m_inputs, "--outputs", m_inputs}, "--outputs");
  refused({"calibrate", "--inputs", m_inputs, "-o", m_inputs}, "--output");
  const std::string folder = m_folder.path().string();
  refused({"calibrate", "--inputs", folder, "-o", m_inputs}, "--output");
}

TEST_F(OutputFiles, AFullDeviceForStandardOutputIsNoSuccess) {
  const std::string program = std::string(FUSESCOPE_BIN_DIR) + "/fusescope";
  for (const char* verb : {"plan", "inspect", "run"}) {
    const auto result = runProcess({"/bin/sh", "-c", R"("$0" "$1" "$2" --json > /dev/full)", program, verb, m_model});
    EXPECT_EQ(result.status, 2) << verb;
    EXPECT_NE(result.err.find("standard output"), std::string::npos) << result.err;
  }
}

}  // namespace
}  // namespace fusescope::test
