// What adding a backend touches.
#include <gtest/gtest.h>

#include <sstream>

#include "base/files.h"
#include "tests/backends/backend_fixture.h"

namespace fusescope::testing {
namespace {

std::vector<std::string> linesOf(const std::string& path) {
  std::istringstream text(readTextFile(path).value());
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

TEST(Backends, AreAFolderAndALineEach) {
  const auto before = linesOf(FUSESCOPE_SOURCE_DIR "/core/backends/backends.inc");
  const auto after = linesOf(FUSESCOPE_LISTS "/backends/backends.inc");
  ASSERT_EQ(after.size(), before.size() + 4);
  EXPECT_TRUE(std::equal(before.begin(), before.end(), after.begin())) << "not the product's list";
  for (const char* name : {"reference", "native", "remote", "keeping", "clamping", "faulty"}) {
    const Backend* backend = findBackend(name);
    ASSERT_NE(backend, nullptr) << name;
    EXPECT_EQ(backend->name(), name);
  }
  EXPECT_EQ(allBackends().size(), 6U);
  EXPECT_EQ(findBackend("another"), nullptr);
}

/// What a backend need not say.
TEST(Backends, RunOnTheHostAndKeepNoCodeUnlessTheySayOtherwise) {
  const Backend& clamping = *findBackend("clamping");
  EXPECT_TRUE(clamping.device().isHost());
  EXPECT_FALSE(clamping.restore("bytes").ok());
}

TEST(Backends, AreWhatATargetNamesInOneLine) {
  const BuildOptions options{.threads = 1, .measureTactics = false};
  const auto model = sampleModel("tiny_resnet_dynbatch");
  const auto plan = planOf(model, {.target = "kept"});
  EXPECT_EQ(plan->segments[0].backend, "keeping");
  const auto engine = engineOf(plan, options);
  EXPECT_EQ(engine->backend(), "keeping");
  EXPECT_EQ(engine->made(), plan);
  EXPECT_EQ(engineOf(planOf(model), options)->backend(), "native");
}

}  // namespace
}  // namespace fusescope::testing
