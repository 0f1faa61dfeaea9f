#include <gtest/gtest.h>

#include "base/files.h"
#include "base/temporary_folder.h"
#include "tests/support/paths.h"

namespace fusescope::test {
namespace {

TEST(TemporaryFolder, GoesWithWhatIsInIt) {
  const TemporaryFolder parent;
  std::filesystem::path first;
  {
    auto folder = fusescope::TemporaryFolder::in(parent.path(), "work");
    auto other = fusescope::TemporaryFolder::in(parent.path(), "work");
    ASSERT_TRUE(folder.ok() && other.ok());
    EXPECT_NE(folder.value().path(), other.value().path()) << "each has its own";
    const fusescope::TemporaryFolder moved = std::move(folder).value();
    first = moved.path();
    EXPECT_TRUE(first.filename().string().starts_with("work-"));
    std::filesystem::create_directory(moved / "inner");
    ASSERT_TRUE(writeFileAtomically((moved / "inner" / "file").string(), "bytes").ok());
    EXPECT_TRUE(std::filesystem::exists(first / "inner" / "file"));
  }
  EXPECT_FALSE(std::filesystem::exists(first));
  EXPECT_TRUE(std::filesystem::is_empty(parent.path())) << "what was moved from owns nothing";
}

TEST(TemporaryFolder, ThatCannotBeMadeSaysWhereAndWhy) {
  const TemporaryFolder parent;
  const auto folder = fusescope::TemporaryFolder::in(parent / "missing", "work");
  ASSERT_FALSE(folder.ok());
  EXPECT_EQ(folder.error().where.file, (parent / "missing").string());
  EXPECT_NE(folder.error().message.find("No such file"), std::string::npos) << folder.error().message;
}

}  // namespace
}  // namespace fusescope::test
