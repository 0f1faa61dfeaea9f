#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "compilers/probed/probed_kind.h"
#include "tests/support/paths.h"

namespace fusescope::test {

/// Gives each test a compiler of the tests' Python, FUSESCOPE_COMPILERS_PYTHON, in a separate process. Tests are
/// skipped if there is no such Python.
class RealCompilerTest : public ::testing::Test {
 protected:
  explicit RealCompilerTest(std::string_view compiler) : m_kind(*findProbedKind(compiler)) {}
  void SetUp() override;
  void TearDown() override;

  const ProbedKind& kind() const { return m_kind; }
  ProbeJob& job() { return *m_job; }
  const std::filesystem::path& python() const { return m_python; }
  std::filesystem::path operator/(const std::string& name) const { return m_folder / name; }

 private:
  const ProbedKind& m_kind;
  std::filesystem::path m_python;
  TemporaryFolder m_folder;
  std::unique_ptr<ProbeJob> m_job;
};

}  // namespace fusescope::test
