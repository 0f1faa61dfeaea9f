// What is worth keeping: what saved most, and what is quicker to load than to make. The clock is the tests' own.
#include <gtest/gtest.h>

#include <sqlite3.h>

#include "base/temporary_folder.h"
#include "cache/disk_store.h"

namespace fusescope::testing {
namespace {

TEST(LoadCost, FollowsQuickLoadsAtOnceAndSlowOnesSlowly) {
  LoadCost cost;
  EXPECT_FALSE(cost.isKnown());
  EXPECT_EQ(cost.msFor(1000), 0);
  cost.learn(100, 8);
  cost.learn(100, 2);
  EXPECT_EQ(cost.fixedMs, 5);
  cost.learn(100, 500);
  EXPECT_DOUBLE_EQ(*cost.fixedMs, 5.25) << "a busy machine makes loads slower than they have to be";
  EXPECT_TRUE(cost.isKnown());
}

TEST(LoadCost, LargeEntriesTakeTheirTimePerByte) {
  LoadCost cost;
  for (int i = 0; i < 3; ++i) cost.learn(10, 1);
  EXPECT_EQ(cost.msFor(1 << 20), 1) << "never too much";
  cost.learn(1 << 20, 1 + 4);
  EXPECT_DOUBLE_EQ(cost.msFor(2 << 20), 1 + 8);
}

class KeptWorth : public ::testing::Test {
 protected:
  /// Each use of the store takes `m_loadMs`.
  std::shared_ptr<DiskStore> open(const std::string& machine = "here") {
    return DiskStore::open(m_folder / "store",
                           {.onPhase = {}, .nowMs = [this] { return m_now += m_loadMs; }, .machine = machine});
  }
  static bool keep(DiskStore& store, const std::string& key, double madeMs, const std::string& kind = "answer") {
    return store.keep({.kind = kind, .about = key, .madeBy = "1", .madeMs = madeMs}, key, "bytes of " + key);
  }
  const TemporaryFolder m_folder =
      TemporaryFolder::in(std::filesystem::temp_directory_path(), "fusescope-worth").value();
  double m_now = 0, m_loadMs = 10;
};

TEST_F(KeptWorth, WhatIsQuickerToMakeIsNotKept) {
  const auto store = open();
  EXPECT_TRUE(keep(*store, "a", 1)) << "nobody knows yet what loading takes";
  for (const char* key : {"b", "c"}) EXPECT_TRUE(keep(*store, key, 100));
  EXPECT_FALSE(keep(*store, "quick", 9));
  EXPECT_TRUE(keep(*store, "slow", 11));
  EXPECT_TRUE(keep(*store, "of an unknown time", 0));
  EXPECT_TRUE(keep(*store, "of another kind", 1, "digest"));
  EXPECT_FALSE(store->find("answer", "quick").has_value());
  const auto kinds = store->statistics();
  ASSERT_EQ(kinds.size(), 2U);
  EXPECT_EQ(kinds[0].record.kind, "answer");
  EXPECT_EQ(kinds[0].record.notKept, 1);
  EXPECT_EQ(kinds[0].record.notKeptMs, 9);
  EXPECT_EQ(kinds[0].record.load.fixedMs, 10);
  EXPECT_EQ(kinds[0].entries, 5);
  EXPECT_EQ(kinds[1].record.notKept, 0);
}

TEST_F(KeptWorth, WhatWasKeptGoesIfItsReplacementIsNotKept) {
  const auto store = open();
  for (const char* key : {"a", "b", "c"}) ASSERT_TRUE(keep(*store, key, 100));
  EXPECT_FALSE(keep(*store, "a", 1));
  EXPECT_FALSE(store->find("answer", "a").has_value()) << "else an older answer would be found";
  EXPECT_EQ(store->entries().size(), 2U);
}

TEST_F(KeptWorth, TidyingUpRemovesWhatTurnedOutToBeQuickerToMake) {
  const auto store = open();
  for (const char* key : {"a", "b"}) ASSERT_TRUE(keep(*store, key, 1));
  ASSERT_TRUE(keep(*store, "c", 100));
  EXPECT_EQ(store->collect(), 2);
  ASSERT_EQ(store->entries().size(), 1U);
  EXPECT_EQ(store->entries()[0].key, "c");
  EXPECT_EQ(store->statistics()[0].record.notKept, 2);
}

TEST_F(KeptWorth, EachMachineLearnsByItself) {
  const auto store = open();
  for (const char* key : {"a", "b", "c"}) ASSERT_TRUE(keep(*store, key, 100));
  EXPECT_FALSE(keep(*store, "quick", 5));
  EXPECT_TRUE(keep(*open("there"), "quick", 5));
}

TEST_F(KeptWorth, AMachineThatBecameQuickerKeepsMore) {
  const auto store = open();
  for (const char* key : {"a", "b", "c"}) ASSERT_TRUE(keep(*store, key, 100));
  EXPECT_FALSE(keep(*store, "quick", 5));
  m_loadMs = 1;
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(store->find("answer", "a").has_value());
  EXPECT_TRUE(keep(*store, "quick", 5));
}

TEST_F(KeptWorth, AnIndexOfAnEarlierProgramLearnsTooAndKeepsWhatItHas) {
  ASSERT_TRUE(keep(*open(), "a", 100));
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open((m_folder / "store" / "index.sqlite").c_str(), &database), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(database, "DROP TABLE kinds", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
  const auto store = open();
  EXPECT_EQ(store->problem(), "");
  EXPECT_TRUE(store->find("answer", "a").has_value());
  EXPECT_EQ(store->statistics().at(0).record.load.loads, 1);
}

TEST_F(KeptWorth, OfEntriesOfOneAgeWhatWasUsedMoreStays) {
  const auto store = open();
  m_loadMs = 0;
  for (const char* key : {"used", "unused"}) ASSERT_TRUE(keep(*store, key, 100));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(store->find("answer", "used").has_value());
  ASSERT_TRUE(store->find("answer", "unused").has_value()) << "it is the one that was used last";
  ASSERT_TRUE(store->setLimit(store->storedBytes() - 1).ok());
  EXPECT_EQ(store->collect(), 1);
  EXPECT_EQ(store->entries().at(0).key, "used");
}

}  // namespace
}  // namespace fusescope::testing
