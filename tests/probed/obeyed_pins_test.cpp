// A pin marked obey that a compiler ignores ends a command with status 1. Skipped where FUSESCOPE_COMPILERS_PYTHON
// names no Python that has OpenVINO.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/json.h"
#include "tests/probed/real_compilers_fixture.h"
#include "tests/support/process.h"

namespace fusescope::test {
namespace {

class ObeyedPins : public RealCompilersFixture {
 protected:
  /// With the type bf16 as a hint for the whole network, OpenVINO calculates each Softmax of bert_tiny in bf16.
  ProcessResult ended(std::vector<std::string> arguments, const char* strictness) const {
    arguments.insert(arguments.begin() + 1, (sampleFolder("bert_tiny") / "model.onnx").string());
    arguments.insert(arguments.end(), {"--compiler", GetParam(), "--precision", "bf16", "--pin",
                                       std::string("op:Softmax=f32:") + strictness});
    return fusescopeCommand(arguments);
  }
};

TEST_P(ObeyedPins, APinThatIsIgnoredEndsEveryCommandWithStatus1) {
  const std::string engine = (m_folder / "pinned.fse").string();
  const std::vector<std::vector<std::string>> commands{
      {"plan"}, {"build", "-o", engine}, {"run"}, {"time", "--seconds", "0.1"}};
  for (const std::vector<std::string>& arguments : commands) {
    const ProcessResult obey = ended(arguments, "obey");
    EXPECT_EQ(obey.status, 1) << arguments[0] << "\n" << obey.out;
    for (const char* node : {"node_Softmax_101", "node_Softmax_168"})
      EXPECT_NE(obey.err.find(std::string("node '") + node + "' must calculate in f32, and openvino does not obey"),
                std::string::npos)
          << arguments[0] << "\n"
          << obey.err;
    EXPECT_FALSE(std::filesystem::exists(engine)) << "an engine that does not obey is not written";
    EXPECT_EQ(ended(arguments, "prefer").status, 0) << arguments[0];
    std::filesystem::remove(engine);
  }
}

INSTANTIATE_TEST_SUITE_P(Compilers, ObeyedPins, ::testing::Values("openvino"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace fusescope::test
