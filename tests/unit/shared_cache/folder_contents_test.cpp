// What a folder that a team shares has, and how it is brought below a number of bytes while others use it.
#include <gtest/gtest.h>

#include "cache/folder_place.h"
#include "tests/unit/shared_cache/shared_tests.h"

namespace fusescope {
namespace {

namespace fs = std::filesystem;

class FolderContentsTest : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directory(m_path); }
  std::shared_ptr<SharedStore> open(FolderPlaceOptions options = {}) const {
    options.limit = kEnoughTime;
    return std::make_shared<SharedStore>(folderPlace(m_path, options), teamKey());
  }
  fs::path file(std::string_view key) const {
    const std::string name = sharedName("answer", key);
    return m_path / name.substr(0, 2) / name.substr(2, 2) / name;
  }
  void usedBefore(std::string_view key, std::chrono::hours time) const {
    fs::last_write_time(file(key), fs::file_time_type::clock::now() - time);
  }

  const TemporaryFolder m_folder = TemporaryFolder::in(fs::temp_directory_path(), "fusescope-contents").value();
  const fs::path m_path = m_folder / "team";
};

TEST_F(FolderContentsTest, CountsEntriesAndNothingElse) {
  const auto store = open();
  EXPECT_EQ(store->contents().value().entries, 0);
  std::int64_t bytes = 0;
  for (const char* key : {"one", "two", "three"}) {
    ASSERT_TRUE(store->keep(answerFacts(), key, sharedContent(1, 1)));
    bytes += static_cast<std::int64_t>(fs::file_size(file(key)));
  }
  writeBytes(m_path / "notes.txt", "of a person");
  writeBytes(file("one").parent_path() / "notes.txt", "of a person");
  fs::create_symlink("/", m_path / "ff");
  const PlaceContents contents = store->contents().value();
  EXPECT_EQ(contents.entries, 3);
  EXPECT_EQ(contents.bytes, bytes);
}

TEST_F(FolderContentsTest, WhatWasNotUsedForLongestGoesFirst) {
  const auto store = open();
  for (const char* key : {"one", "two", "three"}) ASSERT_TRUE(store->keep(answerFacts(), key, sharedContent(1, 1)));
  usedBefore("one", std::chrono::hours(30));
  usedBefore("two", std::chrono::hours(20));
  usedBefore("three", std::chrono::hours(10));
  ASSERT_TRUE(open()->find("answer", "one")) << "which is a use of it";
  writeBytes(m_path / "notes.txt", "of a person");
  const auto left = static_cast<std::int64_t>(fs::file_size(file("one")) + fs::file_size(file("three")));
  const PlaceCollected collected = store->collect(left).value();
  EXPECT_EQ(collected.removed, 1);
  EXPECT_EQ(collected.left.entries, 2);
  EXPECT_EQ(collected.left.bytes, left);
  EXPECT_EQ(foundIn(*store, "two"), "nothing");
  EXPECT_EQ(foundIn(*store, "one"), sharedContent(1, 1));
  EXPECT_EQ(store->collect(0).value().removed, 2);
  EXPECT_TRUE(fs::exists(m_path / "notes.txt"));
  ASSERT_TRUE(store->keep(answerFacts(), "one", "again")) << "folders are still there";
  EXPECT_EQ(foundIn(*open(), "one"), "again");
  EXPECT_TRUE(store->problem().empty());
}

TEST_F(FolderContentsTest, WhatEndedWritersLeftGoesToo) {
  const auto store = open();
  ASSERT_TRUE(store->keep(answerFacts(), "key", "bytes"));
  writeBytes(m_path / "unfinished" / "old", "half");
  writeBytes(m_path / "unfinished" / "young", "half");
  fs::last_write_time(m_path / "unfinished" / "old", fs::file_time_type::clock::now() - std::chrono::hours(2));
  const PlaceCollected collected = store->collect(1 << 20).value();
  EXPECT_EQ(collected.removed, 0);
  EXPECT_EQ(collected.unfinished, 1);
  EXPECT_TRUE(fs::exists(m_path / "unfinished" / "young"));
}

TEST_F(FolderContentsTest, AFolderThatIsNotThereOrIsOfOthersIsAnError) {
  fs::permissions(m_path, fs::perms::others_write, fs::perm_options::add);
  SharedStore ofAnybody(folderPlace(m_path, {.trust = FolderTrust::Private, .limit = kEnoughTime}), {});
  EXPECT_FALSE(ofAnybody.collect(0).ok());
  fs::remove_all(m_path);
  EXPECT_FALSE(open()->contents().ok());
  EXPECT_FALSE(open()->collect(0).ok());
}

/// Two collect, three write and two read at once: what is found is whole, nobody fails, and in the end it is small.
TEST_F(FolderContentsTest, ManyUseItWhileItIsCollected) {
  constexpr int kKeys = 12;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(3);
  const auto works = [&](int which) {
    const auto store = open();
    for (int i = 0; std::chrono::steady_clock::now() < end; ++i) {
      const int key = (i * 7 + which) % kKeys;
      const std::string name = std::to_string(key);
      if (which < 2) {
        if (!store->collect(20'000).ok()) return false;
      } else if (which < 5) {
        if (!store->keep(answerFacts(), name, sharedContent(key, i % 5))) return false;
      } else if (const auto kept = store->find("answer", name); kept && !isSharedContent(kept->bytes, key)) {
        return false;
      }
    }
    return store->problem().empty() && store->takeDamaged().empty();
  };
  std::vector<pid_t> processes;
  for (int which = 0; which < 7; ++which) {
    const pid_t process = ::fork();
    if (process == 0) ::_exit(works(which) ? 0 : 1);
    processes.push_back(process);
  }
  for (const pid_t process : processes) {
    int status = -1;
    ::waitpid(process, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const auto store = open();
  EXPECT_LE(store->collect(20'000).value().left.bytes, 20'000);
}

}  // namespace
}  // namespace fusescope
