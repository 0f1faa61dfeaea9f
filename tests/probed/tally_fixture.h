#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/json.h"
#include "onnxlib/onnx_text.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"

namespace fusescope::test {

inline constexpr const char* kNetwork = R"(<ir_version: 10, opset_import: ["" : 18]>
net (float[4] x) => (float[4] y) <float[4] w = {1, -2, 3, 0.5}, float[4] b = {0.25, 1, -1, 2}> {
  [scale] a = Mul (x, w)
  [clip] c = Relu (a)
  [turn] d = Neg (c)
  [shift] e = Add (d, b)
  [last] y = Relu (e)
})";
/// One node more, in the middle, that tally refuses.
inline constexpr const char* kWithExp = R"(<ir_version: 10, opset_import: ["" : 18]>
net (float[4] x) => (float[4] y) <float[4] w = {1, -2, 3, 0.5}, float[4] b = {0.25, 1, -1, 2}> {
  [scale] a = Mul (x, w)
  [clip] c = Relu (a)
  [grow] d = Exp (c)
  [shift] e = Add (d, b)
  [last] y = Relu (e)
})";

/// A Python that has tally (tally_kind.cpp), and the command that knows it.
class Tally : public ::testing::Test {
 protected:
  Tally() {
    ::setenv("XDG_CONFIG_HOME", (m_folder / "configuration").c_str(), 1);
    ::setenv("TMPDIR", m_temporary.path().c_str(), 1);
    ::setenv("FUSESCOPE_PYTHON", python().c_str(), 1);
    ::unsetenv("VIRTUAL_ENV");
  }
  ~Tally() override {
    ::unsetenv("TMPDIR");
    ::unsetenv("FUSESCOPE_PYTHON");
  }

  /// The command of a Python that has tally, in which `fault` happens.
  static std::string python(const std::string& fault = "", const std::string& more = "") {
    return "env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=" FUSESCOPE_SOURCE_DIR "/tests/probed/python " + more +
           (fault.empty() ? "" : " 'FUSESCOPE_TEST_TALLY=" + fault + "'") + " python3";
  }
  static void plant(const std::string& fault) { ::setenv("FUSESCOPE_PYTHON", python(fault).c_str(), 1); }

  std::string file(std::string_view name) const { return m_folder / name; }
  std::string network(const char* text = kNetwork) const {
    const auto bytes = onnxlib::onnxTextToBytes(text);
    EXPECT_TRUE(bytes.ok()) << bytes.error().text();
    return m_folder.write("network.onnx", bytes.value()).string();
  }

  static ProcessResult command(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), TALLY_FOLDER "/fusescope");
    return runProcess(arguments);
  }
  static Json json(std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    const ProcessResult result = command(arguments);
    EXPECT_EQ(result.status, 0) << ::testing::PrintToString(arguments) << "\n" << result.err;
    Json json = Json::parse(result.out, nullptr, false);
    EXPECT_TRUE(json.is_object()) << result.out << result.err;
    return json;
  }
  static Json entryOf(const Json& list, const char* key, const Json& value) {
    for (const Json& entry : list)
      if (entry.value(key, Json()) == value) return entry;
    return {};
  }
  static std::vector<std::string> nodesOf(const Json& kernel) {
    std::vector<std::string> nodes;
    for (const Json& node : kernel["nodes"]) nodes.push_back(node["node"]);
    return nodes;
  }
  /// Outputs of our own engine, for what others give.
  std::string expected(const std::string& model) const {
    const ProcessResult ours = command({"run", model, "--outputs", file("ours.npz")});
    EXPECT_EQ(ours.status, 0) << ours.err;
    return file("ours.npz");
  }
  void expectSameNumbers(const std::string& model, const std::vector<std::string>& more = {},
                         const std::string& compiler = "tally") {
    std::vector<std::string> arguments{"run",      model,           "--compiler", compiler,
                                       "--expect", expected(model), "--tol-rms",  "1e-6"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProcessResult run = command(arguments);
    EXPECT_EQ(run.status, 0) << run.out << run.err;
  }

  TemporaryFolder m_folder, m_temporary;
};

}  // namespace fusescope::test
