#include "tests/support/real_compiler.h"

#include <cstdlib>

#include "probe/environments.h"
#include "probe/listeners.h"

namespace fusescope::test {

void RealCompilerTest::SetUp() {
  const char* python = std::getenv("FUSESCOPE_COMPILERS_PYTHON");
  if (python == nullptr)
    GTEST_SKIP() << "no Python with " << m_kind.title() << ": FUSESCOPE_COMPILERS_PYTHON is not set";
  m_python = python;
  std::filesystem::create_directory(m_folder / "configuration");
  ::setenv("XDG_CONFIG_HOME", (m_folder / "configuration").c_str(), 1);
  ASSERT_TRUE(confirm(m_python.string()).ok());
  auto job = ProbeJob::start({.name = "tests", .command = m_python.string()}, m_kind.name(), {});
  ASSERT_TRUE(job.ok()) << job.error().text();
  m_job = std::move(job).value();
}

void RealCompilerTest::TearDown() {
  m_job.reset();
  endIdleListeners();
}

}  // namespace fusescope::test
