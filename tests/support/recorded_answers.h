#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "tests/support/command_json.h"
#include "tests/support/paths.h"

namespace fusescope::test {

/// Runs commands and reads their JSON output.
class ToldPlans : public ::testing::Test {
 protected:
  ToldPlans() { ::setenv("XDG_CONFIG_HOME", (m_folder / "configuration").c_str(), 1); }

  static Json json(std::vector<std::string> arguments, int status = 0) {
    return commandJson(std::move(arguments), status);
  }
  /// Returns the error message of a command, which must fail with status 2.
  static std::string problem(const std::vector<std::string>& arguments) {
    const ProcessResult result = fusescopeCommand(arguments);
    EXPECT_EQ(result.status, 2) << ::testing::PrintToString(arguments) << "\n" << result.out << result.err;
    return result.err;
  }
  static bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

  /// Returns how many nodes of a plan have each fate.
  static std::map<std::string, int> fates(const Json& plan) {
    std::map<std::string, int> counts;
    for (const Json& node : plan["nodes"]) ++counts[node["fate"]];
    return counts;
  }
  /// Returns how many bindings of a plan have each certainty.
  static std::map<std::string, int> certainties(const Json& plan) {
    std::map<std::string, int> counts;
    for (const Json& kernel : plan["kernels"])
      for (const Json& node : kernel["nodes"]) ++counts[node["certainty"]];
    return counts;
  }
  /// Returns the only decision with this code.
  static Json decisionOf(const Json& plan, const std::string& code) {
    Json found = Json::object();
    for (const Json& decision : plan["decisions"])
      if (decision["code"] == code) found = decision;
    return found;
  }
  /// Returns the kernel with this name and everything that is known about it.
  static Json kernelOf(const Json& plan, const std::string& name) {
    for (const Json& kernel : plan["kernels"])
      if (kernel["name"] == name) return kernel;
    return Json::object();
  }
  static int timedKernels(const Json& time) {
    int timed = 0;
    for (const Json& kernel : time["layers"][0]["layers"]) timed += kernel["median_ms"].is_number();
    return timed;
  }

  TemporaryFolder m_folder;
};

/// Uses recorded answers of a compiler, so that no machine with the compiler is needed (replay.py).
class RecordedAnswers : public ToldPlans {
 protected:
  ProcessResult packFor(const std::string& compiler, const std::filesystem::path& model,
                        const std::vector<std::string>& more) const {
    std::filesystem::copy_file(model, m_folder / "model.onnx", std::filesystem::copy_options::overwrite_existing);
    std::vector<std::string> arguments{"probe",  "pack", m_folder / "model.onnx", "--compiler",
                                       compiler, "-o",   m_folder / "job.pyz"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return fusescopeCommand(arguments);
  }
  std::string result() const { return m_folder / "result.zip"; }
  /// Answers the packed job with the answers in `recording`.
  void replay(const std::filesystem::path& recording) const {
    const ProcessResult made = runProcess({"/usr/bin/env", "PYTHONDONTWRITEBYTECODE=1", "python3", replayScript(),
                                           "answer", m_folder / "job.pyz", recording, result()});
    ASSERT_EQ(made.status, 0) << made.err;
  }
};

}  // namespace fusescope::test
