// Levels before each other: memory of one machine before that of a team.
#include "cache/store_levels.h"

#include <sys/stat.h>

#include <chrono>
#include <thread>

#include "base/age.h"
#include "cache/disk_store.h"
#include "cache/folder_place.h"
#include "cache/process_store.h"
#include "cache/shared_rest.h"
#include "tests/unit/shared_cache/shared_tests.h"

namespace fusescope {
namespace {

namespace fs = std::filesystem;

class StoreLevelsTest : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directory(m_team); }
  std::shared_ptr<SharedStore> shared() const {
    return std::make_shared<SharedStore>(folderPlace(m_team, {.limit = kEnoughTime}), teamKey());
  }
  std::shared_ptr<StoreLevels> machine(const char* name) const {
    return std::make_shared<StoreLevels>(
        std::vector<std::shared_ptr<KeptStore>>{DiskStore::open(m_folder / name), shared()});
  }
  const TemporaryFolder m_folder = TemporaryFolder::in(fs::temp_directory_path(), "fusescope-levels").value();
  const fs::path m_team = m_folder / "team";
};

TEST_F(StoreLevelsTest, KeepsInAllAndFallsThroughAndFillsTheNearerOnes) {
  KeptFacts facts = answerFacts();
  facts.madeAt = 1'600'000'000;
  ASSERT_TRUE(machine("one")->keep(facts, "key", "bytes"));
  EXPECT_EQ(foundIn(*DiskStore::open(m_folder / "one"), "key"), "bytes");
  EXPECT_EQ(foundIn(*shared(), "key"), "bytes");
  EXPECT_EQ(machine("one")->find("answer", "key")->where, "disk");

  const auto first = machine("two")->find("answer", "key");
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->where, "shared folder");
  const auto second = machine("two")->find("answer", "key");
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->where, "disk");
  EXPECT_EQ(second->bytes, "bytes");
  EXPECT_EQ(second->facts.madeMs, 50);
  EXPECT_EQ(second->madeAt, 1'600'000'000);
  EXPECT_FALSE(machine("two")->find("answer", "another key").has_value());
}

TEST_F(StoreLevelsTest, WithoutItsFartherLevelTheNearerOneServes) {
  const auto levels = machine("one");
  ASSERT_TRUE(levels->keep(answerFacts(), "key", "bytes"));
  fs::remove_all(m_team);
  EXPECT_EQ(foundIn(*levels, "key"), "bytes");
  EXPECT_EQ(levels->problem(), "");
  EXPECT_EQ(foundIn(*levels, "another key"), "nothing");
  EXPECT_NE(levels->problem().find("is not used for"), std::string::npos);
  EXPECT_TRUE(levels->keep(answerFacts(), "another key", "other bytes"));
  EXPECT_EQ(foundIn(*levels, "another key"), "other bytes");
}

TEST_F(StoreLevelsTest, WhatIsDamagedInOneIsTakenFromTheOther) {
  const auto levels = machine("one");
  ASSERT_TRUE(levels->keep(answerFacts(), "key", "bytes"));
  for (const auto& file : fs::directory_iterator(m_folder / "one" / "blobs")) writeBytes(file.path(), "damaged");
  EXPECT_EQ(levels->find("answer", "key")->where, "shared folder");
  EXPECT_EQ(levels->takeDamaged().size(), 1U);
  EXPECT_EQ(levels->find("answer", "key")->where, "disk");
}

/// What a user names is used or refused with the reason.
TEST_F(StoreLevelsTest, APlaceIsUsedAsItIsNamedOrRefusedWithAReason) {
  const std::string key = m_folder / "key", team = m_team.string();
  writeBytes(key, std::string(40, 'k'));
  ::chmod(key.c_str(), 0600);
  const auto problem = [](const std::string& place, const std::string& keyFile) {
    return SharedStore::open(place, keyFile, {.mode = CacheMode::Write})->problem();
  };
  EXPECT_EQ(problem(team, key), "");
  EXPECT_EQ(problem(team, ""), "");
  EXPECT_EQ(problem("unix:/run/redis", key), "");
  EXPECT_NE(problem("unix:/run/redis", "").find("there is no signing key"), std::string::npos);
  EXPECT_NE(problem("redis://", key).find("is not an address of Redis"), std::string::npos);
  const auto secret = SharedStore::open("redis://me:secret@host", key, {.mode = CacheMode::Write});
  EXPECT_EQ((secret->problem() + secret->named()).find("secret"), std::string::npos) << secret->problem();
  EXPECT_NE(problem("a/folder", key).find("must be absolute"), std::string::npos);
  EXPECT_NE(problem(team, key + "2").find("the signing key cannot be opened"), std::string::npos);
  ::chmod(key.c_str(), 0644);
  EXPECT_NE(problem(team, key).find("it must have 0600"), std::string::npos);
  const auto gone = SharedStore::open(team + "-gone", "", {.mode = CacheMode::Read});
  EXPECT_EQ(gone->named(), team + "-gone");
  gone->ping();
  EXPECT_NE(gone->problem().find("cannot be opened"), std::string::npos);
  const auto unused = SharedStore::open(team, key, {.mode = CacheMode::Write});
  EXPECT_FALSE(unused->keep(answerFacts(), "key", "bytes"));
  EXPECT_FALSE(unused->find("answer", "key").has_value());
  EXPECT_TRUE(fs::is_empty(m_team));
}

/// Each process would else wait for a dead place once more.
TEST_F(StoreLevelsTest, APlaceThatFailedIsLeftAloneByOtherProcessesToo) {
  const std::string key = m_folder / "key", file = m_folder / "rest.json";
  writeBytes(key, std::string(40, 'k'));
  ::chmod(key.c_str(), 0600);
  const auto open = [&](const std::string& place) {
    return SharedStore::open(place, key, {.mode = CacheMode::Write, .restFile = file});
  };
  const std::string dead = "unix:" + (m_folder / "no-redis").string();
  const auto first = open(dead);
  EXPECT_EQ(first->problem(), "");
  first->ping();
  EXPECT_NE(first->problem().find("is not used for 30 s"), std::string::npos) << first->problem();
  const auto second = open(dead);
  EXPECT_NE(second->problem().find(" s: it cannot be reached"), std::string::npos) << "it is not asked";
  EXPECT_EQ(open(m_team.string())->problem(), "") << "another place";
  // A file whose time is over, or that ends too late because the clock was set back, counts for nothing.
  for (const std::int64_t until : {secondsNow() - 1, secondsNow() + 3600}) {
    keepRest(file, dead, {.until = until, .next = std::chrono::seconds(30), .why = "it was dead"});
    EXPECT_EQ(open(dead)->problem(), "");
  }
  // Where it answers again, the file is removed.
  keepRest(file, m_team.string(), {.until = secondsNow() + 1, .next = std::chrono::seconds(30), .why = "it was away"});
  const auto back = open(m_team.string());
  EXPECT_NE(back->problem(), "");
  while (!back->keep(answerFacts(), "key", "bytes")) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_FALSE(fs::exists(file));
  writeBytes(file, "no JSON");
  EXPECT_EQ(open(dead)->problem(), "");
}

/// A person corrects the settings, and the next command uses the place.
TEST_F(StoreLevelsTest, WrongSettingsAreCorrectedAtOnce) {
  const std::string key = m_folder / "key", file = m_folder / "rest.json", made = m_folder / "made later";
  writeBytes(key, std::string(40, 'k'));
  ::chmod(key.c_str(), 0600);
  const auto problemOf = [&](const std::string& place, const std::string& keyFile) {
    const auto store = SharedStore::open(place, keyFile, {.mode = CacheMode::Write, .restFile = file});
    store->ping();
    return store->problem();
  };
  EXPECT_NE(problemOf(made, key).find("No such file"), std::string::npos);
  fs::create_directory(made);
  EXPECT_EQ(problemOf(made, key).find("No such file"), std::string::npos);
  ::chmod(made.c_str(), 0777);
  EXPECT_NE(problemOf(made, "").find("without a signing key"), std::string::npos);
  EXPECT_EQ(problemOf(made, key).find("without a signing key"), std::string::npos);
}

TEST_F(StoreLevelsTest, AProcessHasTheLevelsThatItsVariablesName) {
  const std::string key = m_folder / "key";
  writeBytes(key, std::string(40, 'k'));
  ::chmod(key.c_str(), 0600);
  /// Whether a process of a machine finds what was kept there, and afterwards keeps it.
  const auto process = [&](const std::string& machine, const std::string& where) {
    return [&, machine = std::string(machine), where] {
      ::setenv("FUSESCOPE_CACHE", (m_folder / machine).c_str(), 1);
      ::setenv("FUSESCOPE_SHARED_STORE", m_team.c_str(), 1);
      ::setenv("FUSESCOPE_SHARED_STORE_KEY", key.c_str(), 1);
      if (storeOfProcess() != nullptr) return false;
      useStore(CacheMode::Write);
      KeptStore* const store = storeOfProcess();
      std::string found;
      // A busy machine may be slower than a place is waited for: then it is found by another process.
      const auto kept = store->find("answer", "key");
      if (kept) found = kept->where;
      return found == where && store->keep(answerFacts(), "key", "bytes");
    };
  };
  EXPECT_TRUE(holdInProcesses({process("one", "")}));
  EXPECT_TRUE(holdInProcesses({process("one", "disk")}));
  bool isFilled = false;
  for (int i = 0; i < 20 && !isFilled; ++i)
    isFilled = holdInProcesses({process("two" + std::to_string(i), "shared folder")});
  EXPECT_TRUE(isFilled);
}

}  // namespace
}  // namespace fusescope
