// What adding a backend touches.
#include <gtest/gtest.h>

#include <sstream>

#include "backends/backend.h"
#include "base/files.h"

namespace fusescope {
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
  ASSERT_EQ(after.size(), before.size() + 5);
  EXPECT_TRUE(std::equal(before.begin(), before.end(), after.begin())) << "not the product's list";
  for (const char* name : {"reference", "native", "interpreter", "remote", "keeping", "clamping", "faulty"}) {
    const Backend* backend = findBackend(name);
    ASSERT_NE(backend, nullptr) << name;
    EXPECT_EQ(backend->name(), name);
  }
  EXPECT_EQ(allBackends().size(), 7U);
  EXPECT_EQ(findBackend("another"), nullptr);
}

/// What a backend that compiles nothing but segments need not have.
TEST(Backends, ThatCompileSegmentsHaveNoTactics) {
  const Backend& interpreter = *findBackend("interpreter");
  EXPECT_NE(interpreter.segmentCompiler(), nullptr);
  EXPECT_TRUE(interpreter.device().isHost());
  EXPECT_TRUE(interpreter.tactics({}).empty());
  EXPECT_FALSE(interpreter.restore("bytes").ok());
  const Plan plan;
  const FusedNode fused{.name = "some"};
  const auto compiled = interpreter.compile({.plan = &plan, .fused = &fused}, {.name = "any"});
  ASSERT_FALSE(compiled.ok());
  EXPECT_EQ(compiled.error().where.node, "some");
}

}  // namespace
}  // namespace fusescope
