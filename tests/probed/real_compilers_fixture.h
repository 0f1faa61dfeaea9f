#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/support/paths.h"

namespace fusescope::test {

/// Lets commands find ONNX Runtime and OpenVINO in the tests' Python, FUSESCOPE_COMPILERS_PYTHON. If the variable is
/// not set, the test is skipped.
inline void useRealCompilers() {
  const char* python = std::getenv("FUSESCOPE_COMPILERS_PYTHON");
  if (python == nullptr)
    GTEST_SKIP() << "no Python with ONNX Runtime and OpenVINO: FUSESCOPE_COMPILERS_PYTHON is not set";
  ::setenv("FUSESCOPE_PYTHON", python, 1);
}

/// Tests of commands with real compilers; the parameter is the name of the compiler.
class RealCompilersFixture : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    useRealCompilers();
    ::setenv("XDG_CONFIG_HOME", (m_folder / "configuration").c_str(), 1);
  }
  void TearDown() override { ::unsetenv("FUSESCOPE_PYTHON"); }

  TemporaryFolder m_folder;
};

}  // namespace fusescope::test
