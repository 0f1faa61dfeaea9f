// Measured times that the processes of a team share, each with a file of its own.
#include "cache/shared_times.h"

#include "cache/folder_place.h"
#include "cache/timing_cache.h"
#include "tests/unit/shared_cache/redis_server.h"

namespace fusescope {
namespace {

namespace fs = std::filesystem;

/// The group of "machine/region/tactic" is "machine/region"; a key without a bar is not shared.
std::string groupOfKey(std::string_view key) {
  const std::size_t bar = key.rfind('/');
  return bar == std::string_view::npos ? std::string() : std::string(key.substr(0, bar));
}

using MakePlace = std::function<std::unique_ptr<SharedPlace>()>;

class SharedTimesTest : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directory(m_team); }
  MakePlace folder() const {
    return [this] { return folderPlace(m_team, {.limit = kEnoughTime}); };
  }
  std::shared_ptr<SharedTimes> shared(const MakePlace& place, const SigningKey& key = teamKey()) const {
    return std::make_shared<SharedTimes>(std::make_shared<SharedStore>(place(), key), groupOfKey);
  }
  /// What a process of a machine does with its times.
  bool onMachine(const char* name, const MakePlace& place, const std::function<bool(TimingCache&)>& work) const {
    const auto times = shared(place);
    const auto cache = TimingCache::open(m_folder / name).value();
    cache->shareWith(times.get());
    return work(*cache);
  }
  void expectShared(const MakePlace& place) const {
    const Measurement first{.ms = 1.5, .spread = 0.01, .day = "2026-11-28", .median = 2, .quiet = false};
    const auto measure = [&](TimingCache& cache) {
      cache.store("one/region/a", first, {.series = "series", .work = 3, .traffic = 4});
      cache.store("one/region/b", {.ms = 2});
      cache.store("alone", {.ms = 3});
      return true;
    };
    const auto find = [&](TimingCache& cache) {
      const bool isFound = cache.find("one/region/a") == first && cache.find("one/region/b") == Measurement{.ms = 2};
      const auto series = cache.series("series");
      return isFound && series.size() == 1 && series.front().work == 3 && !cache.find("alone") &&
             !cache.find("two/region/a");
    };
    EXPECT_TRUE(holdInProcesses({[&] { return onMachine("first", place, measure); }}));
    EXPECT_TRUE(holdInProcesses({[&] { return onMachine("second", place, find); }}));
    EXPECT_EQ(TimingCache::open(m_folder / "second").value()->size(), 2U) << "they are kept here too";
  }

  const TemporaryFolder m_folder = TemporaryFolder::in(fs::temp_directory_path(), "fusescope-shared-times").value();
  const fs::path m_team = m_folder / "team";
};

TEST_F(SharedTimesTest, AProcessFindsInAFolderWhatAnotherMeasured) {
  expectShared(folder());
}

TEST_F(SharedTimesTest, AProcessFindsInRedisWhatAnotherMeasured) {
  if (!RedisServer::isInstalled()) GTEST_SKIP() << "no redis-server is installed";
  const RedisServer server;
  expectShared([&] { return server.place(); });
}

TEST_F(SharedTimesTest, TimesOfTwoMachinesInOneGroupAreMerged) {
  for (const char* each : {"a", "b"})
    onMachine(each, folder(), [&](TimingCache& cache) {
      cache.store(std::string("one/region/") + each, {.ms = 1});
      return true;
    });
  EXPECT_TRUE(onMachine("third", folder(), [](TimingCache& cache) {
    return cache.find("one/region/a").has_value() && cache.find("one/region/b").has_value();
  }));
}

TEST_F(SharedTimesTest, WhatIsNotSignedByTheTeamIsRefused) {
  {
    const auto others = shared(folder(), otherKey());
    others->note({.key = "one/region/a", .measured = {.ms = 1}});
    others->write();
  }
  const auto ours = shared(folder());
  EXPECT_TRUE(ours->ask("one/region/a").empty());
  EXPECT_EQ(ours->takeDamaged().size(), 1U);
}

TEST_F(SharedTimesTest, WhatWasChangedInThePlaceIsRefused) {
  {
    const auto ours = shared(folder());
    ours->note({.key = "one/region/a", .measured = {.ms = 1}});
    ours->write();
  }
  int files = 0;
  for (const auto& file : fs::recursive_directory_iterator(m_team)) {
    if (!file.is_regular_file()) continue;
    std::string bytes = bytesOfFile(file.path());
    bytes[bytes.size() / 2] ^= 1;
    writeBytes(file.path(), bytes);
    ++files;
  }
  EXPECT_EQ(files, 1);
  const auto later = shared(folder());
  EXPECT_TRUE(later->ask("one/region/a").empty());
  EXPECT_EQ(later->takeDamaged().size(), 1U);
}

TEST_F(SharedTimesTest, AGroupHoldsNoTimesOfAnother) {
  SharedStore store(folder()(), teamKey());
  store.keep({.kind = std::string(kTimesKind)}, "one/region",
             packedTimes({{.key = "one/region/a", .measured = {.ms = 1}}, {.key = "two/region/a"}}));
  const auto times = shared(folder())->ask("one/region/x");
  ASSERT_EQ(times.size(), 1U);
  EXPECT_EQ(times.front().key, "one/region/a");
  EXPECT_TRUE(unpackedTimes("rubbish").empty());
  const std::string whole = packedTimes({{.key = "one/region/a"}});
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_TRUE(unpackedTimes(std::string_view(whole).substr(0, size)).empty()) << size;
}

TEST_F(SharedTimesTest, AProcessThatKeepsNothingNewStillUsesThem) {
  onMachine("first", folder(), [](TimingCache& cache) {
    cache.store("one/region/a", {.ms = 1});
    return true;
  });
  keepNewTimes(false);
  EXPECT_TRUE(onMachine("second", folder(), [](TimingCache& cache) { return cache.find("one/region/a").has_value(); }));
  keepNewTimes(true);
  EXPECT_EQ(TimingCache::open(m_folder / "second").value()->size(), 0U);
}

TEST_F(SharedTimesTest, APlaceThatIsSilentCostsItsTimeOnce) {
  const OddServer silent([](int) { std::this_thread::sleep_for(std::chrono::seconds(1)); });
  const auto times = shared([&] { return redisPlace({.path = silent.path()}); });
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(times->ask("one/" + std::to_string(i) + "/a").empty());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(500)) << "50 ms on a quiet machine";
  EXPECT_EQ(silent.connections(), 1);
  EXPECT_NE(times->problem(), "");
}

}  // namespace
}  // namespace fusescope
