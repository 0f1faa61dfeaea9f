// How many bytes measured times take, and which of them go.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>

#include "base/temporary_folder.h"
#include "cache/collect_kept.h"
#include "cache/timing_cache.h"

namespace fusescope {
namespace {

class TimesRoom : public ::testing::Test {
 protected:
  std::shared_ptr<TimingCache> times() const { return TimingCache::open(m_file).value(); }
  void fill(int count, double ms = 1) const {
    const auto cache = times();
    for (int i = 0; i < count; ++i)
      cache->store(std::to_string(i) + std::string(1000, 'k'), {.ms = ms, .day = "2026-11-28"});
  }
  static std::string key(int i) { return std::to_string(i) + std::string(1000, 'k'); }

  const TemporaryFolder m_folder =
      TemporaryFolder::in(std::filesystem::temp_directory_path(), "fusescope-times-room").value();
  const std::filesystem::path m_file = m_folder / "timings.sqlite";
};

TEST_F(TimesRoom, TheTimesThatAreWorthLeastGo) {
  fill(10);
  times()->store(key(3), {.ms = 1000});  // measuring it again would take seconds
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(times()->find(key(7)).has_value());
  const std::int64_t all = times()->bytes();
  EXPECT_GT(all, 10'000);
  EXPECT_EQ(times()->collectTo(all / 4, all), 8);
  EXPECT_EQ(times()->size(), 2U);
  EXPECT_TRUE(times()->find(key(3)).has_value());
  EXPECT_TRUE(times()->find(key(7)).has_value());
  EXPECT_LE(times()->bytes(), all / 4);
}

TEST_F(TimesRoom, ATimeThatWasNotUsedForLongGoesBeforeOneThatIsUsed) {
  fill(2);
  EXPECT_TRUE(times()->find(key(0)).has_value());
  for (int i = 0; i < 60; ++i) times()->store("other", {.ms = 1}), times()->find("other");
  EXPECT_TRUE(times()->find(key(1)).has_value()) << "as often as the first, and later";
  const auto cache = times();
  EXPECT_GE(cache->collectTo(cache->bytes() - 1, 1 << 30), 1);
  EXPECT_FALSE(cache->find(key(0)).has_value());
  EXPECT_TRUE(cache->find(key(1)).has_value());
}

TEST_F(TimesRoom, TheLimitThatWasSetAppliesFromThenOn) {
  fill(10);
  times()->collectTo(1 << 30, 100'000);
  fill(500);
  EXPECT_LE(times()->bytes(), 50'000) << "half of the limit";
  EXPECT_GT(times()->size(), 10U);
}

TEST_F(TimesRoom, EntriesAndTimesShareOneLimit) {
  EXPECT_EQ(roomForTimes({{.perByte = 1, .bytes = 100}}, {{.perByte = 2, .bytes = 10}}, 1000), 10);
  EXPECT_EQ(roomForTimes({{.perByte = 1, .bytes = 100}}, {{.perByte = 2, .bytes = 10}}, 50), 10);
  EXPECT_EQ(roomForTimes({{.perByte = 3, .bytes = 100}}, {{.perByte = 2, .bytes = 10}}, 105), 0);
  EXPECT_EQ(roomForTimes({}, {{.perByte = 2, .bytes = 100}}, 100), 50) << "at most half";
  fill(200);
  const auto store = DiskStore::open(m_folder / "store");
  const auto collected = collectKept(*store, m_file, 20'000);
  ASSERT_TRUE(collected.ok());
  EXPECT_GT(collected.value().times, 180);
  EXPECT_LE(collected.value().timesBytes, 10'000);
  EXPECT_EQ(store->limit(), 20'000);
}

TEST_F(TimesRoom, WhatTimesTakeIsNotLeftToEntries) {
  fill(200);  // 200 KB, of which 64 are not counted
  const auto store = DiskStore::open(m_folder / "store");
  ASSERT_TRUE(store->setLimit(400'000).ok());
  std::string noise;
  for (int i = 0; i < 110'000; ++i) noise += static_cast<char>((i * 2654435761U) >> 13);
  for (int i = 0; i < 3; ++i)
    store->keep({.kind = "answer", .about = "entry", .madeBy = "1", .madeMs = 1e6}, std::to_string(i),
                noise + std::to_string(i));
  const auto size = static_cast<std::int64_t>(std::filesystem::file_size(m_file));
  EXPECT_LE(store->storedBytes(), 400'000 - std::min<std::int64_t>(size - 65'536, 200'000));
}

TEST_F(TimesRoom, AFileOfAnEarlierProgramIsCountedToo) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(m_file.c_str(), &database), SQLITE_OK);
  sqlite3_exec(database,
               "CREATE TABLE times(hash TEXT NOT NULL, key BLOB NOT NULL, ms REAL NOT NULL, median REAL NOT NULL,"
               " spread REAL NOT NULL, quiet INTEGER NOT NULL, day TEXT NOT NULL, series_hash TEXT, series BLOB,"
               " work REAL, traffic REAL, row_hash TEXT, PRIMARY KEY(hash, key)) WITHOUT ROWID;"
               "PRAGMA application_id=1179861809; PRAGMA user_version=1;",
               nullptr, nullptr, nullptr);
  sqlite3_close(database);
  fill(3);
  EXPECT_TRUE(times()->find(key(1)).has_value());
  EXPECT_EQ(times()->collectTo(times()->bytes() / 2, 1 << 30), 2);
  EXPECT_TRUE(times()->find(key(1)).has_value());
}

}  // namespace
}  // namespace fusescope
