#include "cache/timing_cache.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
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
    cache->store(key, {.ms = 1.25, .spread = 0.5, .day = "2026-11-21"});
    cache->store("other", {.ms = 7});
    cache->store("other", {.ms = 8});
  }
  const auto cache = open();
  EXPECT_EQ(cache->find(key), (Measurement{1.25, 0.5, "2026-11-21"}));
  EXPECT_EQ(cache->find("other"), Measurement{.ms = 8.0});
  EXPECT_FALSE(cache->find("a").has_value());
  EXPECT_EQ(cache->size(), 2U);
  EXPECT_TRUE(cache->movedAside().empty());
}

TEST_F(TimingCacheTest, KeepsNothingNewWhereAProgramSaysSo) {
  const auto cache = open();
  cache->store("before", {.ms = 1});
  keepNewTimes(false);
  cache->store("before", {.ms = 2});
  cache->store("new", {.ms = 3});
  keepNewTimes(true);
  EXPECT_EQ(cache->find("before"), Measurement{.ms = 1});
  EXPECT_EQ(cache->find("new"), std::nullopt);
}

TEST_F(TimingCacheTest, IsListedAndCleared) {
  const auto cache = open();
  cache->store("one", {.ms = 1, .day = "2026-11-21"});
  cache->store("two", {.ms = 2});
  std::map<std::string, Measurement> all;
  cache->forEach([&](std::string_view key, const Measurement& measured) { all.emplace(key, measured); });
  EXPECT_EQ(all.size(), 2U);
  EXPECT_EQ(all["one"], (Measurement{.ms = 1, .day = "2026-11-21"}));
  EXPECT_EQ(cache->clear().value(), 2U);
  EXPECT_EQ(open()->size(), 0U);
  cache->store("three", {.ms = 3});
  EXPECT_EQ(cache->size(), 1U);
}

TEST_F(TimingCacheTest, GivesTheSamplesOfASeries) {
  const auto cache = open();
  cache->store("one", {.ms = 1, .spread = 0.1}, {.series = "s", .work = 10, .traffic = 100});
  cache->store("two", {.ms = 2}, {.series = "s", .work = 20, .traffic = 200});
  cache->store("two", {.ms = 3}, {.series = "s", .work = 20, .traffic = 200});
  cache->store("other", {.ms = 9}, {.series = "t", .work = 1, .traffic = 1});
  cache->store("of none", {.ms = 9});
  auto samples = cache->series("s");
  ASSERT_EQ(samples.size(), 2U);
  std::ranges::sort(samples, {}, &WorkSample::work);
  EXPECT_EQ(samples[0].measured, (Measurement{.ms = 1, .spread = 0.1}));
  EXPECT_EQ(std::pair(samples[1].work, samples[1].traffic), std::pair(20.0, 200.0));
  EXPECT_EQ(samples[1].measured.ms, 3) << "measured again";
  EXPECT_TRUE(cache->series("unknown").empty());
  EXPECT_EQ(cache->size(), 4U);
}

/// As the first version of the schema kept times: some of them were the emulator's.
TEST_F(TimingCacheTest, TimesOfEarlierVersionsAreNotFound) {
  sqlite3* old = nullptr;
  ASSERT_EQ(sqlite3_open(m_file.c_str(), &old), SQLITE_OK);
  const std::string fill =
      "PRAGMA journal_mode=WAL; PRAGMA application_id=1179861809;"
      "CREATE TABLE timings(hash TEXT NOT NULL, key BLOB NOT NULL, ms REAL NOT NULL, PRIMARY KEY(hash, key))"
      " WITHOUT ROWID;"
      "INSERT INTO timings VALUES('" +
      hashText("a").hex() + "', CAST('a' AS BLOB), 1.5);";
  ASSERT_EQ(sqlite3_exec(old, fill.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(old);
  const auto cache = open();
  EXPECT_TRUE(cache->movedAside().empty()) << "an old file is not a damaged one";
  EXPECT_EQ(cache->find("a"), std::nullopt);
  EXPECT_EQ(cache->size(), 0U);
  cache->store("a", {.ms = 2});
  EXPECT_EQ(cache->find("a"), Measurement{.ms = 2});
}

TEST_F(TimingCacheTest, HashChangesWithContent) {
  const auto cache = open();
  const Hash128 empty = cache->hash();
  cache->store("a", {.ms = 1});
  const Hash128 one = cache->hash();
  EXPECT_NE(empty, one);
  cache->store("a", {.ms = 2});
  EXPECT_NE(one, cache->hash());
}

TEST_F(TimingCacheTest, MovesDamagedFilesAside) {
  std::ofstream(m_file) << std::string(10000, 'x');
  const auto cache = open();
  ASSERT_NE(cache, nullptr);
  EXPECT_FALSE(cache->movedAside().empty());
  EXPECT_TRUE(std::filesystem::exists(cache->movedAside()));
  cache->store("a", {.ms = 1});
  EXPECT_EQ(cache->find("a"), Measurement{.ms = 1});
}

TEST_F(TimingCacheTest, MovesTruncatedFilesAside) {
  {
    const auto cache = open();
    for (int i = 0; i < 500; ++i) cache->store("key " + std::to_string(i) + std::string(100, '.'), {.ms = 1.0 * i});
  }
  std::filesystem::resize_file(m_file, std::filesystem::file_size(m_file) / 2 + 100);
  const auto cache = open();
  ASSERT_NE(cache, nullptr);
  EXPECT_FALSE(cache->movedAside().empty());
}

TEST_F(TimingCacheTest, ADamagedFileGetsAFreeNameAndTakesItsLogAlong) {
  std::ofstream(m_file.string() + ".damaged-1") << "an earlier one";
  sqlite3* foreign = nullptr;  // It keeps the log in use.
  ASSERT_EQ(sqlite3_open(m_file.c_str(), &foreign), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(foreign, "PRAGMA journal_mode=WAL; PRAGMA application_id=5; CREATE TABLE own(a)", nullptr,
                         nullptr, nullptr),
            SQLITE_OK);
  const auto cache = open();
  const bool hasLog = std::filesystem::exists(m_file.string() + ".damaged-2-wal");
  sqlite3_close(foreign);
  EXPECT_TRUE(hasLog);
  ASSERT_NE(cache, nullptr);
  EXPECT_EQ(cache->movedAside(), m_file.string() + ".damaged-2");
  EXPECT_EQ(std::filesystem::file_size(m_file.string() + ".damaged-1"), 14U);
}

TEST_F(TimingCacheTest, WhoOnlyWantsToKnowLeavesADamagedFileWhereItIs) {
  std::ofstream(m_file) << std::string(10000, 'x');
  const auto known = TimingCache::openKnown(m_file);
  ASSERT_FALSE(known.ok());
  EXPECT_NE(known.error().message.find("damaged"), std::string::npos) << known.error().message;
  EXPECT_FALSE(TimingCache::openKnown(m_folder / "none.db").ok());
  EXPECT_FALSE(std::filesystem::exists(m_folder / "none.db"));
  EXPECT_FALSE(open()->movedAside().empty());
}

/// Runs a script of SQLite on the file, as another program would.
void changeTimes(const std::filesystem::path& file, const std::string& script) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, script.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
  sqlite3_close(database);
}

TEST_F(TimingCacheTest, ARowThatWasChangedIsNotFound) {
  open()->store("a", {.ms = 1, .day = "2026-11-21"}, {.series = "s", .work = 1, .traffic = 1});
  open()->store("b", {.ms = 2});
  for (const char* change : {"ms=1.5", "median=9", "spread=0.25", "quiet=0", "day='2026-11-23'", "work=2",
                             "series_hash=series_hash, series=CAST('t' AS BLOB)", "key=CAST('c' AS BLOB)"}) {
    open()->store("a", {.ms = 1, .day = "2026-11-21"}, {.series = "s", .work = 1, .traffic = 1});
    ASSERT_EQ(open()->find("a")->ms, 1);
    changeTimes(m_file, std::string("UPDATE times SET ") + change + " WHERE key=CAST('a' AS BLOB)");
    const auto cache = open();
    EXPECT_EQ(cache->find("a"), std::nullopt) << change;
    EXPECT_EQ(cache->find("c"), std::nullopt) << change;
    EXPECT_TRUE(cache->series("s").empty()) << change;
    int listed = 0;
    cache->forEach([&](std::string_view, const Measurement&) { ++listed; });
    EXPECT_EQ(listed, 1) << change;
    const TimesCheck check = cache->verify();
    EXPECT_EQ(check.times, 2) << change;
    EXPECT_EQ(check.damaged, 1) << change;
    EXPECT_EQ(cache->verify().damaged, 0) << "what was damaged is gone";
    EXPECT_EQ(cache->find("b")->ms, 2);
  }
}

/// As programs kept times before rows had hashes, which may use the file at the same time.
TEST_F(TimingCacheTest, RowsOfEarlierProgramsAreTakenAsTheyAre) {
  changeTimes(
      m_file,
      "PRAGMA journal_mode=WAL; PRAGMA application_id=1179861809;"
      "CREATE TABLE times(hash TEXT NOT NULL, key BLOB NOT NULL, ms REAL NOT NULL,"
      " median REAL NOT NULL, spread REAL NOT NULL, quiet INTEGER NOT NULL, day TEXT NOT NULL, series_hash TEXT,"
      " series BLOB, work REAL, traffic REAL, PRIMARY KEY(hash, key)) WITHOUT ROWID;");
  const auto insert = [&](const std::string& key) {
    changeTimes(m_file, "INSERT INTO times(hash, key, ms, median, spread, quiet, day) VALUES('" + hashText(key).hex() +
                            "', CAST('" + key + "' AS BLOB), 1.5, 2, 0, 1, '2026-11-20')");
  };
  insert("a");
  EXPECT_EQ(open()->find("a")->ms, 1.5);
  insert("b");
  const auto cache = open();
  EXPECT_EQ(cache->find("b")->ms, 1.5);
  cache->store("c", {.ms = 3});
  EXPECT_EQ(cache->find("c")->ms, 3);
  EXPECT_EQ(cache->verify().damaged, 0);
}

TEST_F(TimingCacheTest, AFileOfALaterVersionIsLeftAlone) {
  open()->store("a", {.ms = 1});
  changeTimes(m_file, "PRAGMA user_version=2");
  const auto cache = TimingCache::open(m_file);
  ASSERT_FALSE(cache.ok());
  EXPECT_NE(cache.error().message.find("a later version of Fusescope"), std::string::npos) << cache.error().message;
  changeTimes(m_file, "PRAGMA user_version=1");
  EXPECT_EQ(open()->find("a")->ms, 1) << "nothing was changed";
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
    for (int i = 0; i < 50; ++i) cache.value()->store("child " + std::to_string(i), {.ms = 1.0 * i});
    ::_exit(0);
  }
  const auto cache = open();
  const auto work = [&](int thread) {
    for (int i = 0; i < 25; ++i) cache->store(std::to_string(thread) + " " + std::to_string(i), {.ms = 1.0 * i});
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
