#include "cache/disk_store.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <random>
#include <thread>

#include "base/temporary_folder.h"

namespace fusescope {
namespace {

namespace fs = std::filesystem;

/// Bytes that zstd cannot make much smaller, the same for the same number.
std::string noise(std::uint64_t seed, std::size_t count) {
  std::mt19937_64 random(seed);
  std::string bytes(count, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

class DiskStoreTest : public ::testing::Test {
 protected:
  std::shared_ptr<DiskStore> open(DiskStoreOptions options = {}) const { return DiskStore::open(m_path, options); }
  static bool keep(DiskStore& store, std::string_view key, std::string_view bytes, double madeMs = 100) {
    return store.keep({.kind = "answer", .about = "about " + std::string(key), .madeBy = "1", .madeMs = madeMs}, key,
                      bytes);
  }
  static std::optional<std::string> found(DiskStore& store, std::string_view key) {
    auto kept = store.find("answer", key);
    return kept ? std::optional(kept->bytes) : std::nullopt;
  }
  std::vector<fs::path> blobs() const {
    std::vector<fs::path> files;
    for (const auto& file : fs::directory_iterator(m_path / "blobs")) files.push_back(file.path());
    return files;
  }
  fs::path onlyBlob() const {
    const auto files = blobs();
    EXPECT_EQ(files.size(), 1U);
    return files.empty() ? fs::path() : files.front();
  }
  void inIndex(const char* statement) const {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open((m_path / "index.sqlite").c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, statement, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
    sqlite3_close(database);
  }

  const TemporaryFolder m_folder = TemporaryFolder::in(fs::temp_directory_path(), "fusescope-store").value();
  const fs::path m_path = m_folder / "store";
};

TEST_F(DiskStoreTest, FindsAgainInAnotherOpeningWhatWasKept) {
  const std::string key("a\0b", 3), bytes = noise(1, 100000);
  constexpr double kAnHourMs = 3.6e6;  // what finding it again takes is nothing beside that, on any machine
  ASSERT_TRUE(keep(*open(), key, bytes, kAnHourMs));
  const auto store = open();
  EXPECT_EQ(store->problem(), "");
  EXPECT_EQ(found(*store, key), bytes);
  EXPECT_EQ(found(*store, "a"), std::nullopt);
  EXPECT_FALSE(store->find("code", key).has_value()) << "keys are of one kind";
  const auto entries = store->entries();
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].hits, 1);
  EXPECT_GT(entries[0].savedMs, 0);
  EXPECT_EQ(entries[0].size.bytes, bytes.size());
}

TEST_F(DiskStoreTest, TakesTheLaterOfTwoAndNothingIsLeftOfTheFirst) {
  const auto store = open();
  ASSERT_TRUE(keep(*store, "k", "first"));
  ASSERT_TRUE(keep(*store, "k", "second"));
  EXPECT_EQ(found(*store, "k"), "second");
  EXPECT_EQ(blobs().size(), 1U);
  ASSERT_TRUE(keep(*store, "empty", ""));
  EXPECT_EQ(found(*store, "empty"), "");
}

TEST_F(DiskStoreTest, OffGivesNothingAndReadKeepsNothing) {
  ASSERT_TRUE(keep(*open(), "k", "bytes"));
  const auto off = open({.mode = CacheMode::Off});
  EXPECT_EQ(found(*off, "k"), std::nullopt);
  EXPECT_FALSE(keep(*off, "other", "x"));
  const auto read = open({.mode = CacheMode::Read});
  EXPECT_EQ(found(*read, "k"), "bytes");
  EXPECT_FALSE(keep(*read, "other", "x"));
  EXPECT_EQ(read->entries()[0].hits, 0);
}

TEST_F(DiskStoreTest, IsAnArtifactStoreForCode) {
  const auto store = open();
  store->put("code key", "code", 50);
  EXPECT_EQ(store->get("code key"), "code");
  EXPECT_EQ(store->get("another"), std::nullopt);
}

TEST_F(DiskStoreTest, EveryFlippedBitAndEveryShorteningIsFoundAndTheEntryGoes) {
  const std::string bytes = noise(2, 300);
  std::mt19937 random(3);
  int damaged = 0;
  const auto store = open();
  for (int round = 0; round < 240; ++round) {
    ASSERT_TRUE(keep(*store, "k", bytes));
    const fs::path blob = onlyBlob();
    const auto size = fs::file_size(blob);
    if (round % 3 == 0) {
      fs::resize_file(blob, random() % size);
    } else {
      std::fstream file(blob, std::ios::in | std::ios::out | std::ios::binary);
      const auto at = static_cast<std::streamoff>(round % 3 == 1 ? round % size : random() % size);
      char byte = 0;
      file.seekg(at).read(&byte, 1);
      byte = static_cast<char>(byte ^ 1 << random() % 8);
      file.seekp(at).write(&byte, 1);
    }
    const auto kept = found(*store, "k");
    if (kept) {
      EXPECT_EQ(*kept, bytes) << "a bit that zstd does not read may be flipped, and bytes are right all the same";
      continue;
    }
    ++damaged;
    const auto said = store->takeDamaged();
    ASSERT_EQ(said.size(), 1U);
    EXPECT_EQ(said[0].about, "about k");
    EXPECT_TRUE(store->entries().empty());
    EXPECT_TRUE(blobs().empty());
  }
  EXPECT_GT(damaged, 230);
}

TEST_F(DiskStoreTest, ABlobOfAnotherEntryIsNotServed) {
  const auto store = open();
  ASSERT_TRUE(keep(*store, "a", "same bytes"));
  const fs::path first = onlyBlob();
  ASSERT_TRUE(keep(*store, "b", "same bytes"));
  for (const fs::path& blob : blobs())
    if (blob != first) fs::copy_file(first, blob, fs::copy_options::overwrite_existing);
  EXPECT_EQ(found(*store, "b"), std::nullopt);
  EXPECT_EQ(found(*store, "a"), "same bytes");
}

TEST_F(DiskStoreTest, VerifyReadsEverythingAndRemovesWhatNobodyKnows) {
  const auto store = open();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(keep(*store, "k" + std::to_string(i), noise(i, 1000)));
  fs::resize_file(blobs()[2], 20);
  std::ofstream(m_path / "blobs" / "of-nobody") << "x";
  std::ofstream(m_path / "blobs" / "killed.part") << "x";
  const StoreCheck check = store->verify();
  EXPECT_EQ(check.entries, 5);
  ASSERT_EQ(check.damaged.size(), 1U);
  EXPECT_NE(check.damaged[0].why.find("20 bytes"), std::string::npos) << check.damaged[0].why;
  EXPECT_EQ(check.orphans, 2);
  EXPECT_EQ(blobs().size(), 4U);
  EXPECT_EQ(store->verify().damaged.size(), 0U);
}

TEST_F(DiskStoreTest, StaysWithinItsLimitAndKeepsWhatSavesMost) {
  const auto store = open();
  ASSERT_TRUE(store->setLimit(50000).ok());
  ASSERT_TRUE(keep(*store, "dear", noise(100, 9000), 60000));
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(keep(*store, "cheap" + std::to_string(i), noise(i, 9000), 5));
  EXPECT_LE(store->storedBytes(), 50000);
  EXPECT_TRUE(found(*store, "dear").has_value());
  EXPECT_FALSE(found(*store, "cheap0").has_value());
  EXPECT_EQ(store->problem(), "");
  EXPECT_FALSE(keep(*store, "larger than half of it", noise(7, 30000)));
  EXPECT_NE(store->problem().find("more than half of the limit of 50000"), std::string::npos) << store->problem();
  EXPECT_TRUE(keep(*store, "a small one", noise(8, 100)));
  EXPECT_EQ(store->problem(), "") << "it keeps entries again";
  EXPECT_EQ(open()->limit(), 50000);
  ASSERT_TRUE(store->setLimit(10000).ok());
  EXPECT_GT(store->collect(), 0);
  EXPECT_LE(store->storedBytes(), 10000);
  EXPECT_EQ(store->clear().value(), 2);
  EXPECT_TRUE(blobs().empty());
}

TEST_F(DiskStoreTest, AClockThatWasSetBackChangesNothing) {
  const auto store = open();
  ASSERT_TRUE(keep(*store, "k", "bytes"));
  inIndex("UPDATE entries SET made_at=made_at+100000000");
  EXPECT_EQ(found(*store, "k"), "bytes");
  ASSERT_TRUE(keep(*store, "k", "later"));
  EXPECT_EQ(found(*store, "k"), "later");
  inIndex("UPDATE entries SET made_at=-5");
  EXPECT_EQ(found(*open(), "k"), "later");
}

TEST_F(DiskStoreTest, AStoreOfALaterVersionIsLeftAlone) {
  ASSERT_TRUE(keep(*open(), "k", "bytes"));
  inIndex("PRAGMA user_version=2");
  {
    const auto store = open();
    EXPECT_NE(store->problem().find("later version"), std::string::npos) << store->problem();
    EXPECT_FALSE(store->isUsable());
    EXPECT_EQ(found(*store, "k"), std::nullopt);
    EXPECT_FALSE(keep(*store, "k", "other"));
    EXPECT_EQ(store->verify().entries, 0);
    EXPECT_FALSE(store->clear().ok());
  }
  inIndex("PRAGMA user_version=1");
  EXPECT_EQ(found(*open(), "k"), "bytes");
}

TEST_F(DiskStoreTest, OneOfAnEarlierVersionAndADamagedOneAreBegunAnew) {
  ASSERT_TRUE(keep(*open(), "k", "bytes"));
  inIndex("PRAGMA user_version=0");
  {
    const auto store = open();
    EXPECT_NE(store->problem().find("earlier version"), std::string::npos) << store->problem();
    EXPECT_EQ(found(*store, "k"), std::nullopt);
    ASSERT_TRUE(keep(*store, "k", "again"));
    EXPECT_EQ(blobs().size(), 1U) << "what the former index knew is swept away";
  }
  std::ofstream(m_path / "index.sqlite", std::ios::trunc) << "this is no database at all, but text that is long";
  const auto store = open();
  EXPECT_NE(store->problem().find("not an index of Fusescope"), std::string::npos) << store->problem();
  EXPECT_EQ(found(*store, "k"), std::nullopt);
  EXPECT_TRUE(keep(*store, "k", "once more"));
  EXPECT_EQ(found(*open(), "k"), "once more");
}

TEST_F(DiskStoreTest, AnIndexWithFlippedBitsGivesRightBytesOrNone) {
  std::mt19937 random(11);
  for (int round = 0; round < 20; ++round) {
    fs::remove_all(m_path);
    {
      const auto store = open();
      for (int i = 0; i < 8; ++i) ASSERT_TRUE(keep(*store, "k" + std::to_string(i), noise(i, 500)));
    }
    {
      std::fstream file(m_path / "index.sqlite", std::ios::in | std::ios::out | std::ios::binary);
      const auto size = fs::file_size(m_path / "index.sqlite");
      for (int flips = 0; flips < 12; ++flips) {
        const auto at = static_cast<std::streamoff>(random() % size);
        char byte = 0;
        file.seekg(at).read(&byte, 1);
        byte = static_cast<char>(byte ^ 1 << random() % 8);
        file.seekp(at).write(&byte, 1);
      }
    }
    const auto store = open();
    for (int i = 0; i < 8; ++i)
      if (const auto kept = found(*store, "k" + std::to_string(i))) {
        EXPECT_EQ(*kept, noise(i, 500));
      }
    store->verify();
    keep(*store, "new", "bytes");
    if (const auto kept = found(*store, "new")) {
      EXPECT_EQ(*kept, "bytes");
    }
  }
}

}  // namespace
}  // namespace fusescope
