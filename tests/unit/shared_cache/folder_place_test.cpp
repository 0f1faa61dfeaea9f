// What a team keeps in a folder: whose is taken, what happens where it hangs, is damaged, read-only or gone.
#include "cache/folder_place.h"

#include <signal.h>
#include <sys/stat.h>

#include <condition_variable>
#include <thread>

#include "tests/unit/shared_cache/shared_tests.h"

namespace fusescope {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kNobody = 65534;

class FolderPlaceTest : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directory(m_path); }
  std::shared_ptr<SharedStore> open(const SigningKey& key = teamKey(), FolderPlaceOptions options = {}) const {
    options.limit = kEnoughTime;
    return std::make_shared<SharedStore>(folderPlace(m_path, options), key, SharedStoreOptions{.now = m_clock.clock()});
  }
  std::shared_ptr<SharedStore> openPrivate() const { return open({}, {.trust = FolderTrust::Private}); }
  fs::path leaf(std::string_view key) const {
    const std::string name = sharedName("answer", key);
    return m_path / name.substr(0, 2) / name.substr(2, 2);
  }
  fs::path file(std::string_view key) const { return leaf(key) / sharedName("answer", key); }
  std::size_t unfinished() const {
    const fs::path folder = m_path / "unfinished";
    if (!fs::exists(folder)) return 0;
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }

  const TemporaryFolder m_folder = TemporaryFolder::in(fs::temp_directory_path(), "fusescope-place").value();
  const fs::path m_path = m_folder / "team";
  StandingClock m_clock;
};

TEST_F(FolderPlaceTest, AnotherMachineFindsWhatOneKept) {
  const std::string bytes = sharedContent(1, 1, 3'000'000);
  ASSERT_TRUE(open()->keep(answerFacts(), "key", bytes));
  const auto kept = open()->find("answer", "key");
  ASSERT_TRUE(kept.has_value());
  EXPECT_EQ(kept->bytes, bytes);
  EXPECT_EQ(kept->where, "shared folder");
  EXPECT_EQ(kept->facts.about, "an answer");
  EXPECT_GT(kept->madeAt, 0);
  EXPECT_FALSE(open()->find("answer", "another key").has_value());
  EXPECT_FALSE(open()->find("code", "key").has_value());
  EXPECT_EQ(unfinished(), 0U);
}

TEST_F(FolderPlaceTest, TakesTheLaterOfTwo) {
  const auto store = open();
  ASSERT_TRUE(store->keep(answerFacts(), "key", "first"));
  ASSERT_TRUE(store->keep(answerFacts(), "key", "second"));
  EXPECT_EQ(foundIn(*open(), "key"), "second");
}

TEST_F(FolderPlaceTest, WhatHoldsOnOneMachineOnlyIsNotShared) {
  const auto store = open();
  for (const char* kind : {"digest", "environment"}) {
    EXPECT_FALSE(store->keep({.kind = kind}, "key", "bytes"));
    EXPECT_FALSE(store->find(kind, "key").has_value());
  }
  EXPECT_TRUE(fs::is_empty(m_path));
  store->put("key", "code", 50);
  EXPECT_EQ(store->get("key"), "code");
}

TEST_F(FolderPlaceTest, WhatIsReadOnlyKeepsNothingAndOffNeither) {
  const SharedStoreOptions reads{.mode = CacheMode::Read}, off{.mode = CacheMode::Off};
  const auto make = [&](const SharedStoreOptions& options) {
    return SharedStore(folderPlace(m_path, {.limit = kEnoughTime}), teamKey(), options).keep(answerFacts(), "k", "b");
  };
  EXPECT_FALSE(make(reads));
  EXPECT_FALSE(make(off));
  EXPECT_TRUE(fs::is_empty(m_path));
}

TEST_F(FolderPlaceTest, OfAnotherTeamOrUnsignedItIsNotTakenAndSaid) {
  ASSERT_TRUE(open(otherKey())->keep(answerFacts(), "key", "theirs"));
  const auto store = open();
  EXPECT_EQ(foundIn(*store, "key"), "nothing");
  const auto said = store->takeDamaged();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].why, "it is not signed with this key, or is damaged");
  EXPECT_TRUE(store->problem().empty());
  ASSERT_TRUE(openPrivate()->keep(answerFacts(), "key", "unsigned"));
  EXPECT_EQ(foundIn(*store, "key"), "nothing");
  ASSERT_TRUE(store->keep(answerFacts(), "key", "ours"));
  EXPECT_EQ(foundIn(*store, "key"), "ours");
}

TEST_F(FolderPlaceTest, DamagedAtEveryByteItIsNotTakenAndMadeAgain) {
  ASSERT_TRUE(open()->keep(answerFacts(), "key", "bytes"));
  const std::string blob = bytesOfFile(file("key"));
  const auto store = open();
  for (std::size_t at = 0; at < blob.size(); ++at) {
    writeBytes(file("key"), std::string_view(blob).substr(0, at));
    EXPECT_EQ(foundIn(*store, "key"), "nothing") << at;
    std::string flipped = blob;
    flipped[at] = static_cast<char>(flipped[at] ^ 4);
    writeBytes(file("key"), flipped);
    EXPECT_EQ(foundIn(*store, "key"), "nothing") << at;
  }
  EXPECT_EQ(store->takeDamaged().size(), 2 * blob.size());
  ASSERT_TRUE(store->keep(answerFacts(), "key", "bytes"));
  EXPECT_EQ(foundIn(*store, "key"), "bytes");
}

TEST_F(FolderPlaceTest, UnderAnothersNameItIsNotTaken) {
  const auto store = open();
  ASSERT_TRUE(store->keep(answerFacts(), "one", "of one"));
  ASSERT_TRUE(store->keep(answerFacts(), "two", "of two"));
  fs::copy_file(file("one"), file("two"), fs::copy_options::overwrite_existing);
  EXPECT_EQ(foundIn(*store, "two"), "nothing");
  EXPECT_EQ(store->takeDamaged().at(0).why, "it belongs to another entry");
}

TEST_F(FolderPlaceTest, WithoutAKeyOnlyWhatNobodyElseCanWriteIsTaken) {
  ASSERT_TRUE(openPrivate()->keep(answerFacts(), "key", "mine"));
  EXPECT_EQ(foundIn(*openPrivate(), "key"), "mine");
  const fs::path above = m_path.parent_path();
  for (const fs::path& path : {file("key"), leaf("key"), m_path, above})
    for (const fs::perms others : {fs::perms::group_write, fs::perms::others_write}) {
      fs::permissions(path, others, fs::perm_options::add);
      const auto store = openPrivate();
      EXPECT_EQ(foundIn(*store, "key"), "nothing") << path;
      EXPECT_NE(store->problem().find("can be written by other users"), std::string::npos) << store->problem();
      fs::permissions(path, others, fs::perm_options::remove);
    }
  EXPECT_EQ(foundIn(*openPrivate(), "key"), "mine");
  if (::geteuid() != 0) return;
  for (const fs::path& path : {file("key"), leaf("key"), m_path, above}) {
    ASSERT_EQ(::chown(path.c_str(), kNobody, kNobody), 0);
    EXPECT_EQ(foundIn(*openPrivate(), "key"), "nothing") << path;
    ASSERT_EQ(::chown(path.c_str(), 0, 0), 0);
  }
  EXPECT_EQ(foundIn(*openPrivate(), "key"), "mine");
}

TEST_F(FolderPlaceTest, WhatTheTeamMayDoInTheFolderItMayDoInAllOfIt) {
  fs::permissions(m_path, fs::perms(0775));
  ASSERT_TRUE(open()->keep(answerFacts(), "key", "bytes"));
  EXPECT_EQ(fs::status(leaf("key")).permissions(), fs::perms(0775));
  EXPECT_EQ(fs::status(m_path / "unfinished").permissions(), fs::perms(0775));
  EXPECT_EQ(fs::status(file("key")).permissions(), fs::perms(0644));
}

TEST_F(FolderPlaceTest, NoLinkIsFollowedAndNothingLeadsOutOfIt) {
  const fs::path outside = m_folder / "outside";
  ASSERT_TRUE(open()->keep(answerFacts(), "key", "bytes"));
  fs::create_directory(outside);
  fs::rename(file("key"), outside / "blob");
  fs::create_symlink(outside / "blob", file("key"));
  EXPECT_EQ(foundIn(*open(), "key"), "nothing");
  ASSERT_TRUE(open()->keep(answerFacts(), "key", "again"));
  EXPECT_FALSE(fs::is_symlink(file("key")));
  for (const fs::path& folder : {leaf("key"), leaf("key").parent_path(), m_path / "unfinished"}) {
    fs::rename(folder, m_folder / "moved");
    fs::create_directory_symlink(outside, folder);
    const auto store = open();
    if (folder.filename() != "unfinished") {
      EXPECT_EQ(foundIn(*store, "key"), "nothing");
    }
    EXPECT_FALSE(store->keep(answerFacts(), "key", "out"));
    EXPECT_NE(store->problem().find("nothing is written to"), std::string::npos);
    fs::remove(folder);
    fs::rename(m_folder / "moved", folder);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(outside), fs::directory_iterator()), 1);
  for (const std::string& name : {std::string("../../blob"), "../" + std::string(61, 'a'), std::string()}) {
    EXPECT_FALSE(folderPlace(m_path)->get(name).ok());
    EXPECT_FALSE(folderPlace(m_path)->put(name, "bytes").ok());
  }
}

TEST_F(FolderPlaceTest, AFolderThatIsRemovedIsLeftAloneAndUsedAgainWhenItIsBack) {
  const auto store = open();
  ASSERT_TRUE(store->keep(answerFacts(), "key", "bytes"));
  fs::rename(m_path, m_folder / "away");
  EXPECT_EQ(foundIn(*store, "key"), "nothing");
  EXPECT_NE(store->problem().find("is not used for 30 s"), std::string::npos) << store->problem();
  EXPECT_FALSE(store->keep(answerFacts(), "key", "bytes"));
  fs::rename(m_folder / "away", m_path);
  EXPECT_EQ(foundIn(*store, "key"), "nothing");
  m_clock.pass(std::chrono::seconds(30));
  EXPECT_TRUE(store->problem().empty());
  EXPECT_EQ(foundIn(*store, "key"), "bytes");
}

/// As somebody whom rights hold, which is not so of root.
TEST_F(FolderPlaceTest, AFolderThatBecameReadOnlyIsStillRead) {
  EXPECT_TRUE(holdInProcesses({[&] {
    if (::geteuid() == 0) {
      for (const fs::path& path : {m_path, m_path.parent_path()})
        if (::chown(path.c_str(), kNobody, kNobody) != 0) return false;
      if (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0) return false;
    }
    const auto store = open();
    if (!store->keep(answerFacts(), "key", "bytes")) return false;
    for (const fs::path& path : {m_path, m_path / "unfinished", leaf("key")}) fs::permissions(path, fs::perms(0500));
    const bool isRefused = !store->keep(answerFacts(), "key", "other") &&
                           store->problem().find("nothing is written to") == 0 && foundIn(*store, "key") == "bytes";
    for (const fs::path& path : {m_path, m_path / "unfinished", leaf("key")}) fs::permissions(path, fs::perms(0700));
    const bool isLeftAlone = !store->keep(answerFacts(), "key", "other");
    m_clock.pass(std::chrono::seconds(30));
    return isRefused && isLeftAlone && store->keep(answerFacts(), "key", "other") && foundIn(*store, "key") == "other";
  }}));
}

/// Holds up whoever comes, as a mount does whose server is gone.
struct Hanging {
  std::mutex mutex;
  std::condition_variable changed;
  bool hangs = true;
  std::atomic<int> begun{0};
};

/// The wait grows with what was read, so that a large value is not given up before its first piece is there.
TEST_F(FolderPlaceTest, WhatIsLargeIsReadWithTheUsualPatience) {
  const std::string name = sharedName("answer", "key"), bytes(std::size_t{256} << 20, 'b');
  fs::create_directories(leaf("key"));
  writeBytes(file("key"), bytes);
  const auto found = folderPlace(m_path)->get(name);
  ASSERT_TRUE(found.ok()) << found.error().text();
  EXPECT_EQ(found.value(), bytes);
}

TEST_F(FolderPlaceTest, WhatFailsOnItsThreadIsAnError) {
  const auto place = folderPlace(m_path, {.limit = kEnoughTime, .onBegin = [] { throw std::bad_alloc(); }});
  const auto found = place->get(sharedName("answer", "key"));
  ASSERT_FALSE(found.ok());
  EXPECT_NE(found.error().text().find("it failed"), std::string::npos) << found.error().text();
}

TEST_F(FolderPlaceTest, AMountThatHangsIsWaitedForOnceAndThenLeftAlone) {
  ASSERT_TRUE(open()->keep(answerFacts(), "key", "bytes"));
  const auto hanging = std::make_shared<Hanging>();
  SharedStore store(folderPlace(m_path, {.onBegin =
                                             [hanging] {
                                               ++hanging->begun;
                                               std::unique_lock lock(hanging->mutex);
                                               hanging->changed.wait(lock, [&] { return !hanging->hangs; });
                                             }}),
                    teamKey(), {.now = m_clock.clock()});
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(foundIn(store, "key"), "nothing");
  const std::chrono::duration<double, std::milli> first = std::chrono::steady_clock::now() - start;
  EXPECT_NE(store.problem().find("is not used for 30 s: it takes too long"), std::string::npos) << store.problem();
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(foundIn(store, "key"), "nothing");
    EXPECT_FALSE(store.keep(answerFacts(), "key", "bytes"));
  }
  const std::chrono::duration<double, std::milli> all = std::chrono::steady_clock::now() - start;
  std::cout << "a mount that hangs: " << first.count() << " ms once, " << (all - first).count()
            << " ms for 200 questions after that\n";
  EXPECT_EQ(hanging->begun, 1);
  // It still hangs: no second thread is left behind, and the pauses become longer.
  for (const int pause : {30, 60, 120, 240, 480, 600}) {
    m_clock.pass(std::chrono::seconds(pause - 1));
    EXPECT_NE(store.problem(), "") << pause;
    m_clock.pass(std::chrono::seconds(1));
    EXPECT_EQ(store.problem(), "") << pause;
    EXPECT_EQ(foundIn(store, "key"), "nothing");
  }
  EXPECT_EQ(hanging->begun, 1);
  {
    const std::lock_guard lock(hanging->mutex);
    hanging->hangs = false;
  }
  hanging->changed.notify_all();
  std::string found = "nothing";
  for (int i = 0; i < 1000 && found == "nothing"; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    m_clock.pass(std::chrono::seconds(600));
    found = foundIn(store, "key");
  }
  EXPECT_EQ(found, "bytes");
}

TEST_F(FolderPlaceTest, WhatEndedWritersLeftGoesWhenItIsOld) {
  fs::create_directory(m_path / "unfinished");
  writeBytes(m_path / "unfinished" / "old", "half");
  writeBytes(m_path / "unfinished" / "young", "half");
  fs::last_write_time(m_path / "unfinished" / "old", fs::file_time_type::clock::now() - std::chrono::hours(2));
  ASSERT_TRUE(open()->keep(answerFacts(), "key", "bytes"));
  EXPECT_FALSE(fs::exists(m_path / "unfinished" / "old"));
  EXPECT_TRUE(fs::exists(m_path / "unfinished" / "young"));
}

TEST_F(FolderPlaceTest, EndedAtAnyMomentAWriterLeavesTheFormerOrTheNewOne) {
  std::mt19937 random(5);
  int found = 0;
  for (int round = 0; round < 60; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      const auto store = open();
      for (int i = 0;; ++i) store->keep(answerFacts(), std::to_string(i % 4), sharedContent(i % 4, i, 30'000));
    }
    std::this_thread::sleep_for(std::chrono::microseconds(1000 + random() % 30000));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const auto store = open();
    for (int key = 0; key < 4; ++key)
      if (const auto kept = store->find("answer", std::to_string(key))) {
        ++found;
        EXPECT_TRUE(isSharedContent(kept->bytes, key, 30'000));
      }
    EXPECT_TRUE(store->takeDamaged().empty());
    EXPECT_TRUE(store->problem().empty());
  }
  EXPECT_GT(found, 0);
}

}  // namespace
}  // namespace fusescope
