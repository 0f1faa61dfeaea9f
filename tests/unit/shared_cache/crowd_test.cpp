// Two writers and ten readers at once, each a process, over one place of a team.
#include <fmt/format.h>

#include <iostream>

#include "cache/disk_store.h"
#include "cache/folder_place.h"
#include "cache/store_levels.h"
#include "tests/unit/shared_cache/redis_server.h"

namespace fusescope {
namespace {

namespace fs = std::filesystem;

constexpr int kKeys = 6, kRounds = 40, kReaders = 10, kBytes = 30'000;

/// What all processes of a test did together.
struct Traffic {
  std::atomic<std::int64_t> kept, keptBytes, asked, found, foundBytes, foundOnDisk;
};

class Crowd : public ::testing::Test {
 protected:
  using Open = std::function<std::shared_ptr<KeptStore>(int process)>;

  bool write(KeptStore& store, int writer) const {
    int kept = 0;
    for (int round = 0; round < kRounds; ++round)
      for (int key = 0; key < kKeys; ++key) {
        const std::string bytes = sharedContent(key, 2 * round + writer, kBytes);
        if (!store.keep(answerFacts(), std::to_string(key), bytes)) continue;
        ++kept;
        ++m_traffic->kept;
        m_traffic->keptBytes += std::ssize(bytes);
      }
    return kept == kRounds * kKeys && store.takeDamaged().empty() && store.problem().empty();
  }

  bool read(KeptStore& store) const {
    bool isGood = true;
    for (int round = 0; round < 2 * kRounds; ++round)
      for (int key = 0; key < kKeys; ++key) {
        ++m_traffic->asked;
        const auto kept = store.find("answer", std::to_string(key));
        if (!kept) continue;
        isGood &= isSharedContent(kept->bytes, key, kBytes);
        ++m_traffic->found;
        m_traffic->foundBytes += std::ssize(kept->bytes);
        if (kept->where == "disk") ++m_traffic->foundOnDisk;
      }
    return isGood && store.takeDamaged().empty() && store.problem().empty();
  }

  void run(const char* over, const Open& open) const {
    std::vector<std::function<bool()>> works;
    for (int writer = 0; writer < 2; ++writer) works.push_back([&, writer] { return write(*open(writer), writer); });
    for (int reader = 0; reader < kReaders; ++reader) works.push_back([&, reader] { return read(*open(reader)); });
    const auto start = std::chrono::steady_clock::now();
    EXPECT_TRUE(holdInProcesses(works));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    const auto last = open(0);
    for (int key = 0; key < kKeys; ++key)
      EXPECT_TRUE(isSharedContent(foundIn(*last, std::to_string(key)), key, kBytes)) << key;
    const Traffic& all = *m_traffic;
    EXPECT_EQ(all.kept, 2 * kRounds * kKeys);
    EXPECT_EQ(all.asked, kReaders * 2 * kRounds * kKeys);
    EXPECT_GT(all.found, 0);
    std::cout << fmt::format(
        "over {}, 2 writers and {} readers: {} kept ({:.1f} MB), {} asked, {} found ({:.1f} MB), {} of them on disk, "
        "in {:.1f} s\n",
        over, kReaders, all.kept.load(), static_cast<double>(all.keptBytes) / 1e6, all.asked.load(), all.found.load(),
        static_cast<double>(all.foundBytes) / 1e6, all.foundOnDisk.load(), took.count());
  }

  void SetUp() override { fs::create_directory(m_team); }
  void TearDown() override { ::munmap(m_traffic, sizeof(Traffic)); }

  Traffic* const m_traffic =
      new (::mmap(nullptr, sizeof(Traffic), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Traffic{};
  const TemporaryFolder m_folder = TemporaryFolder::in(fs::temp_directory_path(), "fusescope-crowd").value();
  const fs::path m_team = m_folder / "team";
};

TEST_F(Crowd, OverOneFolderReadsWholeEntriesOrNone) {
  run("a folder",
      [&](int) { return std::make_shared<SharedStore>(folderPlace(m_team, {.limit = kEnoughTime}), teamKey()); });
  EXPECT_TRUE(fs::is_empty(m_team / "unfinished"));
}

TEST_F(Crowd, OverOneRedisReadsWholeEntriesOrNone) {
  if (!RedisServer::isInstalled()) GTEST_SKIP() << "redis-server is not installed";
  const RedisServer server;
  run("a Redis", [&](int) { return std::make_shared<SharedStore>(server.place(), teamKey()); });
}

/// The processes of two machines, each with a disk of its own before what the team has.
TEST_F(Crowd, OfTwoMachinesReadsWholeEntriesOrNone) {
  if (!RedisServer::isInstalled()) GTEST_SKIP() << "redis-server is not installed";
  const RedisServer server;
  run("a Redis from two machines with disks", [&](int process) {
    return std::make_shared<StoreLevels>(
        std::vector<std::shared_ptr<KeptStore>>{DiskStore::open(m_folder / fmt::format("machine{}", process % 2)),
                                                std::make_shared<SharedStore>(server.place(), teamKey())});
  });
}

}  // namespace
}  // namespace fusescope
