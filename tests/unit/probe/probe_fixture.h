#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "base/json.h"
#include "probe/environments.h"
#include "probe/probe_job.h"
#include "tests/support/paths.h"

namespace fusescope::test {

/// Tests that start probes: with a configuration and temporary files of their own, so that what is left behind is seen.
class ProbeTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  /// A command, confirmed: Python with the compilers of tests/unit/probe/python, behind `before` if that is given.
  Environment withFakes(const std::string& before = {});
  /// The same for any other command.
  static Environment confirmed(const std::string& command);
  static std::unique_ptr<ProbeJob> started(const Environment& environment, const std::string& compiler = "echo");
  static Json asked(ProbeJob& job, const std::string& op, Json more = Json::object());
  /// A command that runs what stands behind it and spoils the connection: tests/unit/probe/python/relay.py.
  static std::string relay(const std::string& options);
  /// Processes that were started by this test and run.
  std::vector<int> processes() const;
  /// Folders of probes in this test's folder for temporary files.
  std::vector<std::string> leftFolders() const;
  std::filesystem::path file(const std::string& name, const std::string& content) const;

  TemporaryFolder m_folder;
};

/// Waits until `isSo`, for a time that no machine takes.
bool eventually(const std::function<bool()>& isSo);

/// Whether a process is there and no zombie.
bool runs(int process);

std::string textOfFile(const std::filesystem::path& path);

}  // namespace fusescope::test
