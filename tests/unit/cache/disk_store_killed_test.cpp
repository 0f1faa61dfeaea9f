// What happens to the store on disk when writers are ended, disks are full and many use it at once.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>
#include <thread>

#include "base/temporary_folder.h"
#include "cache/disk_store.h"

namespace fusescope {
namespace {

namespace fs = std::filesystem;

/// Differs from key to key and version to version, and says which it is of.
std::string contentOf(int key, int version) {
  std::mt19937_64 random(static_cast<std::uint64_t>(key) * 1000 + static_cast<std::uint64_t>(version));
  std::string bytes = std::to_string(key) + " " + std::to_string(version) + " ";
  for (int i = 0; i < 3000; ++i) bytes += static_cast<char>(random());
  return bytes;
}

/// Whether `bytes` are those of some version of `key`, whole.
bool isWhole(const std::string& bytes, int key) {
  const std::size_t blank = bytes.find(' ');
  if (blank == std::string::npos || bytes.substr(0, blank) != std::to_string(key)) return false;
  return bytes == contentOf(key, std::atoi(bytes.c_str() + blank + 1));
}

KeptFacts factsOf(int key) {
  return {.kind = "answer", .about = "entry " + std::to_string(key), .madeBy = "1", .madeMs = 50};
}

class KilledStore : public ::testing::Test {
 protected:
  /// What `work` does in a process of its own; how that ended.
  template <class Work>
  static int inChild(Work work) {
    const pid_t child = ::fork();
    if (child == 0) {
      work();
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(m_path / "blobs"), fs::directory_iterator()));
  }

  const TemporaryFolder m_folder = TemporaryFolder::in(fs::temp_directory_path(), "fusescope-killed").value();
  const fs::path m_path = m_folder / "store";
};

constexpr WritePhase kPhases[] = {WritePhase::Begun,   WritePhase::Half,   WritePhase::Written, WritePhase::Flushed,
                                  WritePhase::Renamed, WritePhase::Listed, WritePhase::Done};

TEST_F(KilledStore, InEveryPhaseOfWritingLeavesTheFormerEntryOrTheNewOne) {
  for (const WritePhase phase : kPhases) {
    ASSERT_TRUE(DiskStore::open(m_path)->keep(factsOf(1), "1", contentOf(1, 1)));
    const int status = inChild([&] {
      const auto store = DiskStore::open(m_path, {.onPhase = [&](WritePhase now) -> Status {
                                           if (now == phase) ::kill(::getpid(), SIGKILL);
                                           return Done{};
                                         }});
      store->keep(factsOf(1), "1", contentOf(1, 2));
    });
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "phase " << static_cast<int>(phase);
    const auto store = DiskStore::open(m_path);
    EXPECT_EQ(store->problem(), "");
    const auto kept = store->find("answer", "1");
    ASSERT_TRUE(kept.has_value()) << "phase " << static_cast<int>(phase);
    EXPECT_EQ(kept->bytes, contentOf(1, phase == WritePhase::Done ? 2 : 1)) << "phase " << static_cast<int>(phase);
    EXPECT_TRUE(store->takeDamaged().empty());
    store->verify();
    EXPECT_EQ(files(), 1U) << "what the killed writer left is gone";
  }
}

TEST_F(KilledStore, ADiskThatIsFullInAnyPhaseKeepsTheFormerEntry) {
  ASSERT_TRUE(DiskStore::open(m_path)->keep(factsOf(1), "1", contentOf(1, 1)));
  for (const WritePhase phase : kPhases) {
    if (phase == WritePhase::Done) continue;
    const auto store = DiskStore::open(m_path, {.onPhase = [&](WritePhase now) -> Status {
                                         if (now == phase) return Diagnostic{.message = "No space left on device"};
                                         return Done{};
                                       }});
    EXPECT_FALSE(store->keep(factsOf(1), "1", contentOf(1, 2)));
    EXPECT_FALSE(store->keep(factsOf(2), "2", contentOf(2, 1)));
    EXPECT_NE(store->problem().find("an entry could not be kept in " + m_path.string()), std::string::npos)
        << store->problem();
    const auto kept = store->find("answer", "1");
    ASSERT_TRUE(kept.has_value());
    EXPECT_EQ(kept->bytes, contentOf(1, 1));
    EXPECT_EQ(files(), 1U) << "phase " << static_cast<int>(phase);
  }
}

TEST_F(KilledStore, AFileThatMayNotGrowAnyMoreIsAFullDiskToo) {
  ASSERT_TRUE(DiskStore::open(m_path)->keep(factsOf(1), "1", contentOf(1, 1)));
  const int status = inChild([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const auto store = DiskStore::open(m_path);
    const rlimit small{.rlim_cur = 1000, .rlim_max = 1000};
    ::setrlimit(RLIMIT_FSIZE, &small);
    const bool isKept = store->keep(factsOf(2), "2", contentOf(2, 1));
    const auto kept = store->find("answer", "1");
    const bool isSaid = store->problem().find("could not be kept") != std::string::npos;
    ::_exit(!isKept && isSaid && kept && kept->bytes == contentOf(1, 1) ? 7 : 1);
  });
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
  EXPECT_EQ(files(), 1U);
  EXPECT_TRUE(DiskStore::open(m_path)->keep(factsOf(2), "2", contentOf(2, 1)));
}

/// Writers and readers are processes; what each read it has checked.
TEST_F(KilledStore, TwoWritersAndTenReadersAtOnceReadWholeEntries) {
  constexpr int kKeys = 6, kRounds = 40, kReaders = 10;
  std::vector<pid_t> children;
  const auto begin = [&](auto work) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(work() ? 0 : 1);
    children.push_back(child);
  };
  for (int writer = 0; writer < 2; ++writer)
    begin([&] {
      const auto store = DiskStore::open(m_path);
      int kept = 0;
      for (int round = 0; round < kRounds; ++round)
        for (int key = 0; key < kKeys; ++key)
          kept += store->keep(factsOf(key), std::to_string(key), contentOf(key, 2 * round + writer)) ? 1 : 0;
      return kept > 0 && store->takeDamaged().empty();
    });
  for (int reader = 0; reader < kReaders; ++reader)
    begin([&] {
      bool isGood = true;
      for (int round = 0; round < 2 * kRounds; ++round) {
        const auto store = DiskStore::open(m_path, {.mode = round % 2 == 0 ? CacheMode::Read : CacheMode::Write});
        for (int key = 0; key < kKeys; ++key)
          if (const auto kept = store->find("answer", std::to_string(key))) isGood &= isWhole(kept->bytes, key);
        isGood &= store->takeDamaged().empty();
      }
      return isGood;
    });
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  const auto store = DiskStore::open(m_path);
  EXPECT_EQ(store->entries().size(), static_cast<std::size_t>(kKeys));
  EXPECT_TRUE(store->verify().damaged.empty());
  EXPECT_EQ(files(), static_cast<std::size_t>(kKeys));
}

/// One of them makes the index while the others look whether there is one.
TEST_F(KilledStore, ThoseThatBeginItAtOnceAllUseIt) {
  for (int round = 0; round < 60; ++round) {
    const fs::path path = m_folder / ("begun" + std::to_string(round));
    std::vector<pid_t> children;
    for (int i = 0; i < 8; ++i) {
      const pid_t child = ::fork();
      if (child == 0) {
        const auto store = DiskStore::open(path);
        ::_exit(store->isUsable() && store->problem().empty() ? 0 : 1);
      }
      children.push_back(child);
    }
    for (const pid_t child : children) {
      int status = 0;
      ::waitpid(child, &status, 0);
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << round;
    }
  }
}

/// Killed at a moment that nobody chose, many times.
TEST_F(KilledStore, AtAnyMomentNothingIsLeftHalfWritten) {
  std::mt19937 random(5);
  for (int round = 0; round < 40; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      const auto store = DiskStore::open(m_path);
      for (int i = 0;; ++i) store->keep(factsOf(i % 4), std::to_string(i % 4), contentOf(i % 4, i));
    }
    std::this_thread::sleep_for(std::chrono::microseconds(1000 + random() % 30000));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const auto store = DiskStore::open(m_path);
    for (int key = 0; key < 4; ++key)
      if (const auto kept = store->find("answer", std::to_string(key))) {
        EXPECT_TRUE(isWhole(kept->bytes, key));
      }
    EXPECT_TRUE(store->takeDamaged().empty());
  }
  const auto store = DiskStore::open(m_path);
  EXPECT_TRUE(store->verify().damaged.empty());
  EXPECT_EQ(files(), store->entries().size());
}

}  // namespace
}  // namespace fusescope
