// kill -9 of each process of a probe, and of the one that uses it, also before the probe answers: nothing is left
// behind (also checked by TearDown).
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include <array>
#include <csignal>
#include <sstream>
#include <thread>

#include "probe/group_watcher.h"
#include "probe/spawning.h"
#include "tests/unit/probe/probe_fixture.h"

using namespace fusescope;
using namespace fusescope::test;

namespace {

/// A job that waits, and the processes that belong to it.
class Killed : public ProbeTest, public ::testing::WithParamInterface<const char*> {
 protected:
  void TearDown() override {
    m_job.reset();
    ProbeTest::TearDown();
  }
  void begin(const Environment& environment) {
    m_job = started(environment);
    ASSERT_TRUE(m_job);
    m_child = m_job->opened()["about"]["pid"];
    m_listener = m_job->opened()["about"]["listener"];
    std::istringstream children(textOfFile(fmt::format("/proc/{0}/task/{0}/children", m_listener)));
    for (int process = 0; children >> process;)
      if (process != m_child) m_keeper = process;
    ASSERT_GT(m_keeper, 0);
  }
  /// What a request says whose processes are killed once it has begun.
  Diagnostic saidWhenKilled(const std::vector<int>& processes, const std::string& how) const {
    const auto answer = m_job->ask({.json = {{"op", "wait"}, {"how", how}}, .files = {}}, {}, [&](auto, auto) {
      for (const int process : processes) ::kill(process, SIGKILL);
    });
    return answer.ok() ? Diagnostic{.message = "no error"} : answer.error();
  }
  void expectNothingIsLeft() {
    m_job.reset();
    EXPECT_TRUE(eventually([&] { return !runs(m_child) && !runs(m_listener) && !runs(m_keeper); }));
    EXPECT_TRUE(eventually([&] { return leftFolders().empty(); }));
  }

  std::unique_ptr<ProbeJob> m_job;
  int m_child = 0, m_listener = 0, m_keeper = 0;
};

TEST_P(Killed, TheChild) {
  begin(withFakes());
  const auto said = saidWhenKilled({m_child}, GetParam());
  EXPECT_NE(said.message.find("signal 9 (Killed) while it worked on \"wait\""), std::string::npos) << said.text();
  EXPECT_TRUE(runs(m_listener));
}

TEST_P(Killed, TheListener) {
  begin(withFakes());
  const auto said = saidWhenKilled({m_listener}, GetParam());
  EXPECT_NE(said.message.find("ended or closed the connection (signal 9 (Killed))"), std::string::npos) << said.text();
  expectNothingIsLeft();
}

TEST_P(Killed, TheKeeper) {
  begin(withFakes());
  const auto said = saidWhenKilled({m_keeper}, GetParam());
  EXPECT_NE(said.message.find("its keeper was killed"), std::string::npos) << said.text();
  expectNothingIsLeft();
}

TEST_F(Killed, ListenerAndKeeperAtOnceSoThatTheNextOneTidiesUp) {
  begin(withFakes());
  (void)saidWhenKilled({m_keeper, m_listener}, "holding the interpreter");
  m_job.reset();
  EXPECT_TRUE(eventually([&] { return !runs(m_child); }));
  const auto left = leftFolders();
  ASSERT_EQ(left.size(), 1U);
  begin(withFakes());
  EXPECT_TRUE(eventually([&] { return leftFolders().size() == 1; }));
  EXPECT_NE(leftFolders(), left);
}

INSTANTIATE_TEST_SUITE_P(Everywhere, Killed,
                         ::testing::Values("in Python", "holding the interpreter", "in a process of its own"));

/// What the next test starts, and kills.
TEST(DISABLED_ProbeUser, UsesAProbeUntilItIsKilled) {
  const char* command = std::getenv("FUSESCOPE_TEST_COMMAND");
  const char* network = std::getenv("FUSESCOPE_TEST_FILE");
  ASSERT_TRUE(command != nullptr && network != nullptr);
  const auto job = ProbeJob::start({.name = "test", .command = command}, "echo", {});
  ASSERT_TRUE(job.ok()) << job.error().text();
  ASSERT_TRUE(job.value()->ask({.json = {{"op", "echo"}}, .files = {{"x", network}}}, {}).ok());
  (void)job.value()->ask({.json = {{"op", "wait"}, {"how", "holding the interpreter"}}, .files = {}}, {},
                         [](auto, auto) { ::kill(::getpid(), SIGKILL); });
  FAIL() << "it was not killed";
}

/// Starts this program again with one of its disabled tests; returns its process, or -1.
pid_t startAgain(const std::string& test) {
  std::string program = "/proc/self/exe", all = "--gtest_also_run_disabled_tests", filter = "--gtest_filter=" + test;
  const std::array<char*, 4> arguments{program.data(), all.data(), filter.data(), nullptr};
  pid_t user = -1;
  return ::posix_spawn(&user, program.c_str(), nullptr, nullptr, arguments.data(), environ) == 0 ? user : -1;
}

class KilledUser : public ProbeTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(KilledUser, LeavesNothing) {
  const Environment environment = withFakes(*GetParam() == '\0' ? "" : relay(GetParam()));
  ::setenv("FUSESCOPE_TEST_COMMAND", environment.command.c_str(), 1);
  ::setenv("FUSESCOPE_TEST_FILE", file("network", "a network").c_str(), 1);
  const pid_t user = startAgain("DISABLED_ProbeUser.UsesAProbeUntilItIsKilled");
  ASSERT_GT(user, 0);
  int status = 0;
  ASSERT_EQ(::waitpid(user, &status, 0), user);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EXPECT_TRUE(eventually([&] { return processes().empty(); }));
  if (std::string_view(GetParam()).find("--far") == std::string_view::npos) {
    EXPECT_TRUE(eventually([&] { return leftFolders().empty(); }));
    return;
  }
  // What came from far is in a folder of the process that was killed: the next one removes it.
  const auto job = started(environment);
  ASSERT_TRUE(job);
  EXPECT_TRUE(job->ask({.json = {{"op", "echo"}}, .files = {{"x", file("network", "a network")}}}, {}).ok());
}

INSTANTIATE_TEST_SUITE_P(Everywhere, KilledUser, ::testing::Values("", "--delay 1", "--far"));

TEST_F(KilledUser, AlsoWhereOnlyTheConnectionBreaks) {
  const auto job = started(withFakes(relay("--delay 1")));
  ASSERT_TRUE(job);
  const int child = job->opened()["about"]["pid"], listener = job->opened()["about"]["listener"];
  std::istringstream status(textOfFile(fmt::format("/proc/{}/stat", listener)));
  std::string ignored;
  int relay = 0;
  status >> ignored >> ignored >> ignored >> relay;
  const auto answer = job->ask({.json = {{"op", "wait"}, {"how", "holding the interpreter"}}, .files = {}}, {},
                               [&](auto, auto) { ::kill(relay, SIGKILL); });
  ASSERT_FALSE(answer.ok());
  EXPECT_NE(answer.error().message.find("ended or closed the connection"), std::string::npos) << answer.error().text();
  EXPECT_TRUE(eventually([&] { return !runs(child) && !runs(listener); }));
}

/// Starts a command that never answers; the next test ends it.
TEST(DISABLED_ProbeUser, WaitsForAnAnswerThatNeverComes) {
  const char* command = std::getenv("FUSESCOPE_TEST_COMMAND");
  ASSERT_TRUE(command != nullptr);
  (void)ProbeJob::start({.name = "test", .command = command}, "echo", {});
}

class SilentCommand : public ProbeTest, public ::testing::WithParamInterface<int> {};

TEST_P(SilentCommand, EndsWithItsWholeGroupWithinASecond) {
  using Clock = std::chrono::steady_clock;
  // It reads what is written to a process that has been started, so that this test kills no user that still starts it.
  const std::string script = file("silent", "read -r line\nsleep 1000\n:\n").string();
  ::setenv("FUSESCOPE_TEST_COMMAND", confirmed("sh " + script).command.c_str(), 1);
  const pid_t user = startAgain("DISABLED_ProbeUser.WaitsForAnAnswerThatNeverComes");
  ASSERT_GT(user, 0);
  ASSERT_TRUE(eventually([&] { return processes().size() == 3; })) << "the user, the shell, and what it started";
  ::kill(user, GetParam());
  const auto killed = Clock::now();
  ASSERT_EQ(::waitpid(user, nullptr, 0), user);
  EXPECT_TRUE(eventually([&] { return processes().empty(); }));
  EXPECT_LT(Clock::now() - killed, std::chrono::seconds(1));
}

/// Ends the process that starts the command, while it waits for the command to begin.
void killStarter() {
  ::kill(::getppid(), SIGKILL);
}

/// The command of a process that is killed before it knows that the command runs.
TEST(StartWatched, NothingIsLeftBehindByAProcessThatIsKilledWhileItStarts) {
  Pipe output = openSocket().value();
  const pid_t starter = ::fork();
  if (starter == 0) {
    const GroupWatcher watcher = GroupWatcher::start();
    std::string shell = "sh", option = "-c", script = "echo $$; exec sleep 1000";
    const std::array<char*, 4> words{shell.data(), option.data(), script.data(), nullptr};
    pid_t id = -1;
    startWatched({.standard = {0, output.write.number(), 2},
                  .watcher = watcher.connection(),
                  .words = words.data(),
                  .variables = environ,
                  .beforeCommand = killStarter},
                 id);
    ::_exit(0);  // is not reached
  }
  int status = 0;
  ASSERT_EQ(::waitpid(starter, &status, 0), starter);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  output.write.close();
  std::array<char, 32> said{};
  ASSERT_GT(::read(output.read.number(), said.data(), said.size() - 1), 0);
  const pid_t command = std::atoi(said.data());
  ASSERT_GT(command, 0);
  EXPECT_TRUE(eventually([&] { return !runs(command); })) << "it is ended together with its group";
  ::kill(-command, SIGKILL);
}

INSTANTIATE_TEST_SUITE_P(Signals, SilentCommand, ::testing::Values(SIGINT, SIGTERM, SIGKILL));

}  // namespace
