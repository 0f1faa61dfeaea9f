#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "onnxlib/onnx_text.h"
#include "tests/support/command_json.h"
#include "tests/support/paths.h"

namespace fusescope::test {

inline constexpr const char* kServedNetwork = R"(<ir_version: 10, opset_import: ["" : 18]>
net (float[4] x) => (float[4] y) <float[4] w = {1, -2, 3, 0.5}, float[4] b = {0.25, 1, -1, 2}> {
  [scale] a = Mul (x, w)
  [clip] c = Relu (a)
  [turn] d = Neg (c)
  [shift] e = Add (d, b)
  [last] y = Relu (e)
})";

/// The command in an environment where TensorRT for servers and trtexec stand in (CMakeLists.txt).
class Server : public ::testing::Test {
 protected:
  Server() {
    ::setenv("XDG_CONFIG_HOME", (m_folder / "configuration").c_str(), 1);
    ::setenv("TMPDIR", m_temporary.path().c_str(), 1);
    ::unsetenv("VIRTUAL_ENV");
    serve("10.16");
  }
  ~Server() override {
    ::unsetenv("TMPDIR");
    ::unsetenv("FUSESCOPE_PYTHON");
  }

  /// `version`: a folder of recordings/, or a path; `fault`: what goes wrong in both; `more`: further variables.
  void serve(const std::string& version, const std::string& fault = "", const std::string& more = "") {
    const std::string recording = version.find('/') == std::string::npos ? STAND_INS "/recordings/" + version : version;
    const std::string python = "env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=" STAND_INS
                               "/fakes LD_LIBRARY_PATH=" STAND_IN_DRIVER " PATH=" STAND_INS
                               "/bin:/usr/local/bin:/usr/bin:/bin FUSESCOPE_TEST_RECORDING='" +
                               recording + "' FUSESCOPE_TEST_TENSORRT=" + version.substr(0, 2) +
                               (fault.empty() ? "" : " 'FUSESCOPE_TEST_FAULT=" + fault + "'") + more + " python3";
    ::setenv("FUSESCOPE_PYTHON", python.c_str(), 1);
  }

  std::string file(std::string_view name) const { return m_folder / name; }
  std::string network(const char* text = kServedNetwork) const {
    const auto bytes = onnxlib::onnxTextToBytes(text);
    EXPECT_TRUE(bytes.ok()) << bytes.error().text();
    return m_folder.write("network.onnx", bytes.value()).string();
  }

  static Json json(std::vector<std::string> arguments, int status = 0) {
    return commandJson(std::move(arguments), status);
  }
  /// What a command says that fails with `status`.
  static std::string said(const std::vector<std::string>& arguments, int status) {
    const ProcessResult result = fusescopeCommand(arguments);
    EXPECT_EQ(result.status, status) << ::testing::PrintToString(arguments) << "\n" << result.out << result.err;
    return result.err;
  }
  static Json entryOf(const Json& list, const char* key, const Json& value) {
    for (const Json& entry : list)
      if (entry.value(key, Json()) == value) return entry;
    return Json::object();
  }
  static std::vector<std::string> namesOf(const Json& list) {
    std::vector<std::string> names;
    for (const Json& entry : list) names.push_back(entry["name"]);
    return names;
  }
  /// Those whose code begins so.
  static std::vector<Json> decisionsOf(const Json& plan, const std::string& code) {
    std::vector<Json> found;
    for (const Json& decision : plan["decisions"])
      if (decision["code"].get<std::string>().starts_with(code)) found.push_back(decision);
    return found;
  }
  /// Outputs of our own engine, for what others give.
  std::string expected(const std::string& model) const {
    const ProcessResult ours = fusescopeCommand({"run", model, "--outputs", file("ours.npz")});
    EXPECT_EQ(ours.status, 0) << ours.err;
    return file("ours.npz");
  }

  TemporaryFolder m_folder, m_temporary;
};

}  // namespace fusescope::test
