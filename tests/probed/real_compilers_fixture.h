#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/support/paths.h"

namespace fusescope::test {

/// ONNX Runtime and OpenVINO of the tests' Python, FUSESCOPE_COMPILERS_PYTHON, for commands; the parameter is the name
/// of the compiler. Tests are skipped if the variable is not set.
class RealCompilersFixture : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const char* python = std::getenv("FUSESCOPE_COMPILERS_PYTHON");
    if (python == nullptr)
      GTEST_SKIP() << "no Python with ONNX Runtime and OpenVINO: FUSESCOPE_COMPILERS_PYTHON is not set";
    ::setenv("FUSESCOPE_PYTHON", python, 1);
    ::setenv("XDG_CONFIG_HOME", (m_folder / "configuration").c_str(), 1);
  }
  void TearDown() override { ::unsetenv("FUSESCOPE_PYTHON"); }

  TemporaryFolder m_folder;
};

}  // namespace fusescope::test
