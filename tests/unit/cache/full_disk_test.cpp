// What happens to measured times and to the store when the disk is full. The disk is a file system in memory, which
// only root can mount; others run the tests with a limit on the size of files.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <random>

#include "base/temporary_folder.h"
#include "cache/disk_store.h"
#include "cache/timing_cache.h"

namespace fusescope {
namespace {

namespace fs = std::filesystem;

/// A disk of 2 MB, which this process alone sees.
class FullDisk : public ::testing::Test {
 protected:
  void SetUp() override {
    static const bool isAlone =
        ::unshare(CLONE_NEWNS) == 0 && ::mount(nullptr, "/", nullptr, MS_PRIVATE | MS_REC, nullptr) == 0;
    m_isMounted = isAlone && ::mount("none", m_disk.c_str(), "tmpfs", 0, "size=2m") == 0;
    if (!m_isMounted) GTEST_SKIP() << "this user cannot mount a file system";
  }
  void TearDown() override {
    if (m_isMounted) ::umount2(m_disk.c_str(), MNT_DETACH);
  }
  void fill() const {
    std::ofstream file(m_disk / "other data", std::ios::app);
    const std::string block(4096, 'x');
    while (file.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
    }
  }
  std::vector<std::string> filesOfDisk() const {
    std::vector<std::string> names;
    for (const auto& file : fs::directory_iterator(m_disk)) names.push_back(file.path().filename().string());
    return names;
  }
  bool hasDamagedFiles() const {
    return std::ranges::any_of(filesOfDisk(), [](const auto& name) { return name.find("damaged") != name.npos; });
  }
  static std::string bytesOf(int key, int size) {
    std::mt19937 random(static_cast<unsigned>(key));
    std::string bytes(static_cast<std::size_t>(size), ' ');
    for (char& each : bytes) each = static_cast<char>(random());
    return bytes;
  }
  std::shared_ptr<DiskStore> keepThree(int size = 100000) const {
    auto store = DiskStore::open(m_store);
    for (int i = 0; i < 3; ++i)
      EXPECT_TRUE(store->keep({.kind = "answer", .about = "entry", .madeBy = "1", .madeMs = 1000.0 + i},
                              std::to_string(i), bytesOf(i, size)));
    return store;
  }

  const TemporaryFolder m_folder = TemporaryFolder::in(fs::temp_directory_path(), "fusescope-full").value();
  const fs::path m_disk = m_folder.path(), m_times = m_disk / "timings.sqlite", m_store = m_disk / "store";

 private:
  bool m_isMounted = false;
};

TEST_F(FullDisk, LeavesMeasuredTimesWhereTheyAreAndUsesThem) {
  {
    const auto cache = TimingCache::open(m_times).value();
    for (int i = 0; i < 100; ++i) cache->store("key " + std::to_string(i), {.ms = 1.0 * i, .day = "2026-11-27"});
  }
  fill();
  for (int round = 0; round < 3; ++round) {
    const auto cache = TimingCache::open(m_times);
    ASSERT_TRUE(cache.ok()) << cache.error().text();
    EXPECT_TRUE(cache.value()->movedAside().empty());
    EXPECT_EQ(cache.value()->problem(), "the disk is full");
    EXPECT_EQ(cache.value()->size(), 100U);
    EXPECT_EQ(cache.value()->find("key 7")->ms, 7);
  }
  EXPECT_FALSE(hasDamagedFiles());
  fs::remove(m_disk / "other data");
  const auto cache = TimingCache::open(m_times).value();
  EXPECT_EQ(cache->problem(), "");
  EXPECT_EQ(cache->size(), 100U);
}

TEST_F(FullDisk, IsSaidOnceATimeCannotBeKept) {
  const auto cache = TimingCache::open(m_times).value();
  cache->store("before", {.ms = 1});
  EXPECT_EQ(cache->problem(), "");
  fill();
  for (int i = 0; i < 5000 && cache->problem().empty(); ++i) cache->store("key " + std::to_string(i), {.ms = 2});
  EXPECT_EQ(cache->problem(), "the disk is full");
  EXPECT_EQ(cache->find("before")->ms, 1);
}

TEST_F(FullDisk, WhereNoTimesAreYetIsAnErrorAndLeavesNoDamagedFile) {
  fill();
  for (int round = 0; round < 2; ++round) {
    const auto cache = TimingCache::open(m_times);
    ASSERT_FALSE(cache.ok());
    EXPECT_NE(cache.error().message.find("the disk is full"), std::string::npos) << cache.error().message;
  }
  EXPECT_FALSE(hasDamagedFiles());
}

TEST_F(FullDisk, StillGivesWhatIsKept) {
  keepThree();
  fill();
  for (const CacheMode mode : {CacheMode::Read, CacheMode::Write}) {
    const auto store = DiskStore::open(m_store, {.mode = mode});
    EXPECT_NE(store->problem().find("is full"), std::string::npos) << store->problem();
    EXPECT_EQ(store->entries().size(), 3U);
    const auto kept = store->find("answer", "1");
    ASSERT_TRUE(kept.has_value());
    EXPECT_EQ(kept->bytes, bytesOf(1, 100000));
    EXPECT_FALSE(store->keep({.kind = "answer", .madeMs = 1000}, "new", "bytes"));
    EXPECT_TRUE(store->verify().damaged.empty());
  }
  fs::remove(m_disk / "other data");
  EXPECT_EQ(DiskStore::open(m_store)->entries().size(), 3U);
}

TEST_F(FullDisk, CanBeEmptied) {
  ASSERT_TRUE(keepThree()->setLimit(1 << 20).ok());
  fill();
  const auto store = DiskStore::open(m_store);
  const auto gone = store->clear();
  ASSERT_TRUE(gone.ok()) << gone.error().text();
  EXPECT_EQ(gone.value(), 3);
  EXPECT_EQ(store->problem(), "");
  EXPECT_TRUE(fs::is_empty(m_store / "blobs"));
  EXPECT_TRUE(store->keep({.kind = "answer", .madeMs = 1000}, "new", "bytes"));
  EXPECT_EQ(DiskStore::open(m_store)->limit(), 1 << 20) << "the limit is not forgotten";
  EXPECT_EQ(DiskStore::open(m_store)->entries().size(), 1U);
}

/// The removed files make less room than SQLite needs for a new index.
TEST_F(FullDisk, CanBeEmptiedIfLittleIsKept) {
  keepThree(200);
  fill();
  const auto store = DiskStore::open(m_store);
  EXPECT_EQ(store->clear().value(), 3);
  EXPECT_NE(store->problem().find("is full"), std::string::npos) << store->problem();
  EXPECT_TRUE(fs::is_empty(m_store / "blobs"));
  fs::remove(m_disk / "other data");
  EXPECT_TRUE(DiskStore::open(m_store)->entries().empty());
}

TEST_F(FullDisk, IsTidiedToALimitThatIsWrittenThen) {
  keepThree();
  fill();
  const auto store = DiskStore::open(m_store);
  const std::int64_t one = store->storedBytes() / 3;
  const auto gone = store->collectTo(one + 10);
  ASSERT_TRUE(gone.ok()) << gone.error().text();
  EXPECT_EQ(gone.value(), 2);
  EXPECT_EQ(store->limit(), one + 10);
  const auto left = DiskStore::open(m_store);
  ASSERT_EQ(left->entries().size(), 1U);
  EXPECT_EQ(left->entries().front().key, "2") << "it saved the most time";
  EXPECT_TRUE(left->verify().damaged.empty());
}

TEST_F(FullDisk, CanBeEmptiedByAProcessThatHadTheStoreOpenBefore) {
  const auto store = keepThree();
  fill();
  EXPECT_EQ(store->clear().value(), 3);
  EXPECT_TRUE(fs::is_empty(m_store / "blobs"));
}

/// Where files may not grow, SQLite reports an error of the disk; the file is not damaged.
TEST(FilesThatMayNotGrow, LeaveMeasuredTimesWhereTheyAre) {
  const auto folder = TemporaryFolder::in(fs::temp_directory_path(), "fusescope-small").value();
  const fs::path times = folder.path() / "timings.sqlite";
  TimingCache::open(times).value()->store("key", {.ms = 3});
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{.rlim_cur = 1000, .rlim_max = 1000};
    ::setrlimit(RLIMIT_FSIZE, &small);
    const auto cache = TimingCache::open(times);
    ::_exit(!cache.ok() || cache.value()->movedAside().empty() ? 7 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
  EXPECT_EQ(TimingCache::open(times).value()->find("key")->ms, 3);
}

}  // namespace
}  // namespace fusescope
