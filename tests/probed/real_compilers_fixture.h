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

/// Hands a worker requests one after another, as the window does, and prints what each ended with.
inline constexpr const char* kAsksWorker = R"python(
import json, subprocess, sys

worker = subprocess.Popen([sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
for request in sys.argv[2:]:
    worker.stdin.write(request + "\n")
    worker.stdin.flush()
    for line in worker.stdout:
        if json.loads(line)["event"] != "progress":
            print(line, end="")
            break
worker.stdin.close()
worker.wait()
)python";

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
