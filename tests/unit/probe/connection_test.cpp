// Connections as they are: slow, in pieces, to another machine, over a terminal, broken at any byte.
#include <fmt/format.h>

#include <sstream>
#include <thread>

#include "probe/listeners.h"
#include "tests/unit/probe/probe_fixture.h"

using namespace fusescope;
using namespace fusescope::test;

namespace {

class Connection : public ProbeTest {
 protected:
  /// Whether a job of this test's probe has a part of a file that is sent to it.
  bool hasBegunToArrive() const {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(m_folder / "temporary"))
      if (entry.path().parent_path().filename() == "blobs") return true;
    return false;
  }
};

std::string bytes(std::size_t count) {
  std::string text(count, '\0');
  for (std::size_t i = 0; i < count; ++i) text[i] = static_cast<char>(i * 2654435761U >> 13);
  return text;
}

/// Everything that a connection carries: a file there and back, and progress. The first error, if there is one.
std::optional<Diagnostic> useAll(const Environment& environment, const std::filesystem::path& file,
                                 const std::string& content) {
  const auto job = ProbeJob::start(environment, "echo", {});
  if (!job.ok()) return job.error();
  const auto answer = job.value()->ask({.json = {{"op", "echo"}}, .files = {{"a/b", file}}}, {});
  if (!answer.ok()) return answer.error();
  EXPECT_EQ(textOfFile(answer.value().files.at("a/b")), content);
  return {};
}

TEST_F(Connection, FilesGoInPiecesToAnotherMachine) {
  const std::string content = bytes(5'000'000);
  const auto problem = useAll(withFakes(relay("--far")), file("network", content), content);
  EXPECT_FALSE(problem) << problem->text();
}

TEST_F(Connection, AnEmptyFileIsOneToo) {
  const auto problem = useAll(withFakes(relay("--far")), file("network", ""), "");
  EXPECT_FALSE(problem) << problem->text();
}

TEST_F(Connection, ACachedFileIsSentOnce) {
  const std::string content = bytes(3'000'000);
  const auto path = file("network", content);
  Environment environment = withFakes(relay(fmt::format("--far --count {}", (m_folder / "count").string())));
  environment.keepsFiles = true;
  std::vector<std::uint64_t> sent;
  for (int i = 0; i < 2; ++i) {
    const auto problem = useAll(environment, path, content);
    EXPECT_FALSE(problem) << problem->text();
    endIdleListeners();
    EXPECT_TRUE(eventually([&] { return std::filesystem::exists(m_folder / "count"); }));
    std::istringstream(textOfFile(m_folder / "count")) >> sent.emplace_back();
    std::filesystem::remove(m_folder / "count");
  }
  EXPECT_GT(sent[0], content.size());
  EXPECT_LT(sent[1], content.size());
}

TEST_F(Connection, ADamagedFileInTheCacheIsFoundOut) {
  const std::string content = bytes(100'000);
  const auto path = file("network", content);
  Environment environment = withFakes(relay("--far"));
  environment.keepsFiles = true;
  EXPECT_FALSE(useAll(environment, path, content));
  for (const auto& entry : std::filesystem::directory_iterator(m_folder / "cache" / "fusescope" / "probe-files"))
    file(entry.path().lexically_relative(m_folder.path()).string(), bytes(100'001).substr(1));
  const auto problem = useAll(environment, path, content);
  ASSERT_TRUE(problem);
  EXPECT_NE(problem->message.find("has changed since it was sent"), std::string::npos) << problem->text();
  EXPECT_FALSE(useAll(environment, path, content)) << "it is sent again";
}

TEST_F(Connection, WithoutLeaveNothingIsCached) {
  const std::string content = bytes(1000);
  EXPECT_FALSE(useAll(withFakes(relay("--far")), file("network", content), content));
  EXPECT_TRUE(std::filesystem::is_empty(m_folder / "cache"));
}

class ConnectionKinds : public ProbeTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(ConnectionKinds, CarriesEverything) {
  const std::string content = bytes(200'000);
  const auto problem = useAll(withFakes(relay(GetParam())), file("network", content), content);
  EXPECT_FALSE(problem) << problem->text();
}

INSTANTIATE_TEST_SUITE_P(Every, ConnectionKinds,
                         ::testing::Values("", "--far --delay 60", "--far --chunk 1000", "--delay 60 --chunk 4001",
                                           "--noise 'Welcome to this machine.\nfusescope-probe '", "--terminal",
                                           "--terminal --far --delay 20"));

class BrokenAt : public ProbeTest, public ::testing::WithParamInterface<int> {};

/// A connection that breaks after a part of all bytes: an error in words each time, and nothing is left (TearDown).
TEST_P(BrokenAt, EndsInWords) {
  const std::string content = bytes(60'000);
  const auto path = file("network", content);
  const std::string count = (m_folder / "count").string();
  EXPECT_FALSE(useAll(withFakes(relay("--far --count " + count)), path, content));
  endIdleListeners();
  EXPECT_TRUE(eventually([&] { return !textOfFile(count).empty(); }));
  std::uint64_t in = 0, out = 0;
  std::istringstream(textOfFile(count)) >> in >> out;
  const auto part = static_cast<std::uint64_t>(GetParam());
  for (const std::string& where :
       {fmt::format("--break-in {}", in * part / 12), fmt::format("--break-out {}", out * part / 12)}) {
    const auto problem = useAll(withFakes(relay("--far " + where)), path, content);
    ASSERT_TRUE(problem) << where;
    EXPECT_FALSE(problem->cancelled);
    EXPECT_NE(problem->message.find("ended"), std::string::npos) << where << ": " << problem->text();
  }
}

INSTANTIATE_TEST_SUITE_P(EachPart, BrokenAt, ::testing::Range(0, 12));

TEST_F(Connection, DamageOnTheWayIsFoundOut) {
  const std::string content = bytes(100'000) + "SPOILME" + bytes(100'000);
  const auto path = file("network", content);
  const auto there = useAll(withFakes(relay("--far --spoil in")), path, content);
  ASSERT_TRUE(there);
  EXPECT_NE(there->message.find("damaged on its way to the probe"), std::string::npos) << there->text();
  const auto back = useAll(withFakes(relay("--far --spoil out")), path, content);
  ASSERT_TRUE(back);
  EXPECT_NE(back->message.find("damaged on its way from the probe"), std::string::npos) << back->text();
}

TEST_F(Connection, AFileThatChangesWhileItIsSentEndsTheJob) {
  const auto job = started(withFakes(relay("--far --delay 50 --chunk 2000")));
  ASSERT_TRUE(job);
  const auto path = file("network", bytes(40'000'000));
  std::thread shortens([&] {
    EXPECT_TRUE(eventually([&] { return hasBegunToArrive(); }));
    std::filesystem::resize_file(path, 10);
  });
  const auto answer = job->ask({.json = {{"op", "echo"}}, .files = {{"network", path}}}, {});
  shortens.join();
  ASSERT_FALSE(answer.ok());
  EXPECT_NE(answer.error().text().find("became shorter while it was sent"), std::string::npos) << answer.error().text();
  EXPECT_FALSE(job->isThere());
}

TEST_F(Connection, OneThatFallsSilentIsGivenUp) {
  const auto job =
      ProbeJob::start(withFakes(relay("--stall-out 2200")), "echo", {},
                      {.handshake = std::chrono::milliseconds(20'000), .silence = std::chrono::milliseconds(2000)});
  const auto problem = job.ok() ? job.value()->ask({.json = {{"op", "wait"}}, .files = {}}, {}).error() : job.error();
  EXPECT_NE(problem.message.find("has not answered for too long"), std::string::npos) << problem.text();
}

TEST_F(Connection, SeveralJobsAtOnceShareOneListener) {
  const std::string content = bytes(400'000);
  const auto path = file("network", content);
  const Environment environment = withFakes(relay("--far"));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 2; ++round) {
        const auto problem = useAll(environment, path, content);
        EXPECT_FALSE(problem) << problem->text();
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Connection, CancellingWhileAFileIsSentEndsTheJob) {
  const auto job = started(withFakes(relay("--far --delay 50 --chunk 2000")));
  ASSERT_TRUE(job);
  std::stop_source stop;
  const auto path = file("network", bytes(40'000'000));
  std::thread later([&] {
    EXPECT_TRUE(eventually([&] { return hasBegunToArrive(); }));
    stop.request_stop();
  });
  const auto answer = job->ask({.json = {{"op", "echo"}}, .files = {{"network", path}}}, stop.get_token());
  later.join();
  ASSERT_FALSE(answer.ok());
  EXPECT_TRUE(answer.error().cancelled);
  const int process = job->opened()["about"]["pid"];
  EXPECT_TRUE(eventually([&] { return !runs(process); }));
}

}  // namespace
