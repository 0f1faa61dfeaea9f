// `inspect --memory`: what an engine's arena holds.
#include <gtest/gtest.h>

#include "base/temporary_folder.h"
#include "tests/unit/cli/cli_fixture.h"

namespace fusescope::test {
namespace {

TEST(CliMemory, OfAnEngineIsToldStepByStep) {
  const TemporaryFolder folder;
  const std::string engine = (folder / "e.fse").string();
  const auto built = fusescopeCommand({"build", samplePath("fp16_overflow"), "-o", engine});
  ASSERT_EQ(built.status, 0) << built.err;
  const Json memory = jsonOf(fusescopeCommand({"inspect", engine, "--memory", "--json"}));
  ASSERT_FALSE(memory["steps"].empty());
  std::int64_t most = 0;
  for (const Json& step : memory["steps"]) most = std::max(most, step["taken_bytes"].get<std::int64_t>());
  EXPECT_EQ(memory["peak"]["bytes"].get<std::int64_t>(), most);
  EXPECT_GE(memory["arena_bytes"].get<std::int64_t>(), most);
  EXPECT_FALSE(memory["peak"]["pieces"].empty());
  const auto words = fusescopeCommand({"inspect", engine, "--memory"});
  EXPECT_NE(words.out.find("The peak:"), std::string::npos) << words.out;
}

TEST(CliMemory, OfAModelIsNotKnown) {
  const auto wrong = fusescopeCommand({"inspect", samplePath("fp16_overflow"), "--memory"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_NE(wrong.err.find("--memory"), std::string::npos) << wrong.err;
}

}  // namespace
}  // namespace fusescope::test
