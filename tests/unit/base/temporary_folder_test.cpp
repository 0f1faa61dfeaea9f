#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <thread>
#include <vector>

#include "base/files.h"
#include "base/owned_path.h"
#include "base/temporary_folder.h"
#include "tests/support/paths.h"
#include "tests/unit/base/killed_process.h"

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
    EXPECT_TRUE(first.filename().string().starts_with("work."));
    std::filesystem::create_directory(moved / "inner");
    ASSERT_TRUE(writeFileAtomically((moved / "inner" / "file").string(), "bytes").ok());
    EXPECT_TRUE(std::filesystem::exists(first / "inner" / "file"));
  }
  EXPECT_FALSE(std::filesystem::exists(first));
  EXPECT_TRUE(std::filesystem::is_empty(parent.path())) << "what was moved from owns nothing";
}

// Between the moments in which a folder is made and locked, another process may take it for left and remove it.
TEST(TemporaryFolder, IsThereHoweverManyAreMadeBesideIt) {
  const TemporaryFolder parent;
  std::atomic<bool> isOver = false;
  std::vector<std::thread> others;
  for (int i = 0; i < 3; ++i)
    others.emplace_back([&] {
      while (!isOver) removeAbandoned(parent.path(), [](std::string_view name) { return name.starts_with("work."); });
    });
  int gone = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto folder = fusescope::TemporaryFolder::in(parent.path(), "work");
    gone += !folder.ok() || !std::filesystem::is_directory(folder.value().path());
  }
  isOver = true;
  for (std::thread& other : others) other.join();
  EXPECT_EQ(gone, 0);
}

TEST(TemporaryFolder, OfAProcessThatWasKilledGoesWithTheNextOne) {
  const TemporaryFolder parent;
  const auto count = [&] {
    return std::distance(std::filesystem::directory_iterator(parent.path()), std::filesystem::directory_iterator());
  };
  std::filesystem::create_directory(parent / "work.users");   // not as long as ours are
  std::filesystem::create_directory(parent / "work-AbCdEf");  // of another form
  KilledProcess process([&] {
    const auto folder = fusescope::TemporaryFolder::in(parent.path(), "work");
    const auto other = fusescope::TemporaryFolder::in(parent.path(), "other");
    if (!folder.ok() || !writeFileAtomically((folder.value() / "file").string(), "bytes").ok()) return;
    KilledProcess::waitToBeKilled();
  });
  ASSERT_TRUE(process.isWaiting());
  {
    const auto mine = fusescope::TemporaryFolder::in(parent.path(), "work");
    ASSERT_TRUE(mine.ok());
    EXPECT_EQ(count(), 5) << "what a process that lives has stays";
    const auto next = fusescope::TemporaryFolder::in(parent.path(), "work");
    ASSERT_TRUE(next.ok());
    EXPECT_TRUE(std::filesystem::exists(mine.value().path())) << "and what this one has";
  }
  process.kill();
  EXPECT_EQ(count(), 4) << "of a killed process everything is left";
  {
    const auto next = fusescope::TemporaryFolder::in(parent.path(), "work");
    EXPECT_EQ(count(), 4) << "one of this name went, one came; another name's is left for its own next";
  }
  EXPECT_EQ(count(), 3);
  EXPECT_TRUE(std::filesystem::exists(parent / "work.users"));
  EXPECT_TRUE(std::filesystem::exists(parent / "work-AbCdEf"));
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
