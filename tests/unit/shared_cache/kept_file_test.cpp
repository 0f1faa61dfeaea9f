// A store carried to another machine as one file.
#include "cache/kept_file.h"

#include <sys/stat.h>

#include "base/files.h"
#include "tests/unit/shared_cache/shared_tests.h"

namespace fusescope {
namespace {

namespace fs = std::filesystem;

class KeptFile : public testing::Test {
 protected:
  KeptFile() : m_folder(TemporaryFolder::in(fs::temp_directory_path(), "fusescope-kept").value()) {
    for (int key = 0; key < 5; ++key) m_here->keep(answerFacts(), keyText(key), sharedContent(key, 1));
    m_here->keep({.kind = "environment", .about = "a Python", .madeBy = "1"}, "where", "/opt/python");
  }
  static std::string keyText(int key) { return "key " + std::to_string(key); }
  fs::path file() const { return m_folder.path() / "kept.fscache"; }
  std::shared_ptr<DiskStore> store(const char* name) const { return DiskStore::open(m_folder.path() / name); }
  /// What is wrong with reading the file into `into`; empty: nothing.
  std::string problemOf(DiskStore& into, const SigningKey& by) const {
    const auto read = readKeptFile(into, file(), by);
    return read.ok() ? std::string() : read.error().message;
  }

  TemporaryFolder m_folder;
  std::shared_ptr<DiskStore> m_here = store("here");
};

TEST_F(KeptFile, BringsAllThatIsValidElsewhere) {
  const auto written = writeKeptFile(*m_here, file(), teamKey());
  ASSERT_TRUE(written.ok()) << written.error().text();
  EXPECT_EQ(written.value().entries, 5) << "where a Python is says nothing elsewhere";
  EXPECT_EQ(written.value().bytes, static_cast<std::int64_t>(fs::file_size(file())));
  const auto there = store("there");
  const auto read = readKeptFile(*there, file(), teamKey());
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read.value().kept, 5);
  EXPECT_EQ(read.value().known, 0);
  EXPECT_TRUE(read.value().refused.empty());
  const auto before = m_here->entries("answer");
  const auto after = there->entries("answer");
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i].madeAt, after[i].madeAt);
    EXPECT_EQ(before[i].facts.madeMs, after[i].facts.madeMs);
    EXPECT_EQ(before[i].hits, 0) << "to be written is no use";
    EXPECT_EQ(after[i].hits, 0);
  }
  for (int key = 0; key < 5; ++key) EXPECT_EQ(there->find("answer", keyText(key))->bytes, sharedContent(key, 1));
  const auto again = readKeptFile(*there, file(), teamKey());
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again.value().kept, 0);
  EXPECT_EQ(again.value().known, 5);
}

TEST_F(KeptFile, DoesNotReplaceAFileOfAnotherKind) {
  writeBytes(file(), "a network");
  const auto written = writeKeptFile(*m_here, file(), teamKey());
  ASSERT_FALSE(written.ok());
  EXPECT_NE(written.error().message.find("is not replaced"), std::string::npos) << written.error().message;
  EXPECT_EQ(fs::file_size(file()), 9U);
  writeBytes(file(), "");
  EXPECT_TRUE(writeKeptFile(*m_here, file(), teamKey()).ok()) << "an empty file is replaced";
  EXPECT_TRUE(writeKeptFile(*m_here, file(), teamKey()).ok()) << "an exported file is replaced";
}

TEST_F(KeptFile, ThatIsSignedSaysThatNoKeyIsGiven) {
  ASSERT_TRUE(writeKeptFile(*m_here, file(), teamKey()).ok());
  ::chmod(file().c_str(), 0600);
  const auto read = readKeptFile(*store("there"), file(), {});
  ASSERT_TRUE(read.ok()) << read.error().text();
  ASSERT_FALSE(read.value().refused.empty());
  EXPECT_EQ(read.value().refused.front().why, "is damaged, or is signed with a key and none is given");
}

TEST_F(KeptFile, IsRefusedWithAnotherKey) {
  ASSERT_TRUE(writeKeptFile(*m_here, file(), otherKey()).ok());
  const auto there = store("there");
  const auto read = readKeptFile(*there, file(), teamKey());
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read.value().kept, 0);
  EXPECT_EQ(read.value().refused.size(), 5U);
  EXPECT_TRUE(there->entries().empty());
}

TEST_F(KeptFile, WithoutAKeyIsOnlyTakenFromOnesOwnFolder) {
  ASSERT_TRUE(writeKeptFile(*m_here, file(), {}).ok());
  fs::permissions(file(), fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_write);
  EXPECT_NE(problemOf(*store("there"), {}).find("others can write it"), std::string::npos);
  fs::permissions(file(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(problemOf(*store("there"), {}), "");
  fs::permissions(m_folder.path(), fs::perms::all);
  EXPECT_NE(problemOf(*store("elsewhere"), {}).find("others can write its folder"), std::string::npos);
  fs::permissions(m_folder.path(), fs::perms::owner_all);
}

TEST_F(KeptFile, ThatIsDamagedBringsOnlyWhatIsWhole) {
  ASSERT_TRUE(writeKeptFile(*m_here, file(), teamKey()).ok());
  const std::string whole = readTextFile(file()).value();
  for (std::size_t size = 0; size < whole.size(); size += 1 + whole.size() / 97) {
    const auto there = store(("cut " + std::to_string(size)).c_str());
    std::ofstream(file(), std::ios::binary) << whole.substr(0, size);
    const auto read = readKeptFile(*there, file(), teamKey());
    EXPECT_TRUE(!read.ok() || size == 8) << "it ends at " << size;
    for (const StoreEntry& entry : there->entries())
      EXPECT_EQ(there->find(entry.facts.kind, entry.key)->bytes, m_here->find(entry.facts.kind, entry.key)->bytes);
  }
  for (std::size_t place = 8; place < whole.size(); place += 1 + whole.size() / 97) {
    const auto there = store(("spoilt " + std::to_string(place)).c_str());
    std::string spoilt = whole;
    spoilt[place] = static_cast<char>(spoilt[place] ^ 0x40);
    std::ofstream(file(), std::ios::binary) << spoilt;
    const auto read = readKeptFile(*there, file(), teamKey());
    EXPECT_TRUE(!read.ok() || !read.value().refused.empty()) << "a bit at " << place;
    for (const StoreEntry& entry : there->entries())
      EXPECT_EQ(there->find(entry.facts.kind, entry.key)->bytes, m_here->find(entry.facts.kind, entry.key)->bytes);
  }
}

TEST_F(KeptFile, OfAnotherKindIsNamed) {
  std::ofstream(file()) << "a text";
  EXPECT_EQ(problemOf(*store("there"), teamKey()), "this is not a file of cache entries");
}

}  // namespace
}  // namespace fusescope
