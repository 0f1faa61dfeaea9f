#include "cache/timing_cache.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

namespace fusescope {
namespace {

class TimingCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    m_folder = std::filesystem::temp_directory_path() / ("fusescope-cache-" + std::to_string(::getpid()));
    std::filesystem::create_directories(m_folder);
    m_file = m_folder / "timings.db";
  }
  void TearDown() override { std::filesystem::remove_all(m_folder); }
  std::shared_ptr<TimingCache> open() {
    auto cache = TimingCache::open(m_file);
    EXPECT_TRUE(cache.ok()) << (cache.ok() ? "" : cache.error().text());
    return cache.ok() ? cache.value() : nullptr;
  }
  std::filesystem::path m_folder, m_file;
};

TEST_F(TimingCacheTest, RemembersAcrossOpenings) {
  const std::string key("a\0b", 3);
  {
    const auto cache = open();
    EXPECT_FALSE(cache->find(key).has_value());
    cache->store(key, 1.25);
    cache->store("other", 7);
    cache->store("other", 8);
  }
  const auto cache = open();
  EXPECT_EQ(cache->find(key), 1.25);
  EXPECT_EQ(cache->find("other"), 8.0);
  EXPECT_FALSE(cache->find("a").has_value());
  EXPECT_EQ(cache->size(), 2U);
  EXPECT_TRUE(cache->movedAside().empty());
}

TEST_F(TimingCacheTest, HashChangesWithContent) {
  const auto cache = open();
  const Hash128 empty = cache->hash();
  cache->store("a", 1);
  const Hash128 one = cache->hash();
  EXPECT_NE(empty, one);
  cache->store("a", 2);
  EXPECT_NE(one, cache->hash());
}

TEST_F(TimingCacheTest, MovesDamagedFilesAside) {
  std::ofstream(m_file) << std::string(10000, 'x');
  const auto cache = open();
  ASSERT_NE(cache, nullptr);
  EXPECT_FALSE(cache->movedAside().empty());
  EXPECT_TRUE(std::filesystem::exists(cache->movedAside()));
  cache->store("a", 1);
  EXPECT_EQ(cache->find("a"), 1.0);
}

TEST_F(TimingCacheTest, MovesTruncatedFilesAside) {
  {
    const auto cache = open();
    for (int i = 0; i < 500; ++i) cache->store("key " + std::to_string(i) + std::string(100, '.'), i);
  }
  std::filesystem::resize_file(m_file, std::filesystem::file_size(m_file) / 2 + 100);
  const auto cache = open();
  ASSERT_NE(cache, nullptr);
  EXPECT_FALSE(cache->movedAside().empty());
}

TEST_F(TimingCacheTest, AFolderThatCannotBeWrittenIsAnError) {
  const auto cache = TimingCache::open("/proc/nowhere/timings.db");
  ASSERT_FALSE(cache.ok());
  EXPECT_EQ(cache.error().where.file, "/proc/nowhere/timings.db");
}

TEST_F(TimingCacheTest, ServesThreadsAndProcessesAtOnce) {
  open();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto cache = TimingCache::open(m_file);
    if (!cache.ok()) ::_exit(1);
    for (int i = 0; i < 50; ++i) cache.value()->store("child " + std::to_string(i), i);
    ::_exit(0);
  }
  const auto cache = open();
  const auto work = [&](int thread) {
    for (int i = 0; i < 25; ++i) cache->store(std::to_string(thread) + " " + std::to_string(i), i);
  };
  std::thread first(work, 1), second(work, 2);
  first.join();
  second.join();
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(cache->size(), 100U);
}

}  // namespace
}  // namespace fusescope
