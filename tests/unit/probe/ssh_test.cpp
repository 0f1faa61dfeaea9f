// A real sshd on the loopback interface: the command's arguments are parsed again by a shell there.
#include <fmt/format.h>

#include <csignal>
#include <optional>

#include "probe/listeners.h"
#include "tests/support/process.h"
#include "tests/support/ssh_server.h"
#include "tests/unit/probe/probe_fixture.h"

using namespace fusescope;
using namespace fusescope::test;

namespace {

class Ssh : public ProbeTest {
 protected:
  void SetUp() override {
    ProbeTest::SetUp();
    if (const std::string why = SshServer::whyNot(); !why.empty()) GTEST_SKIP() << why;
    m_server.emplace(m_folder / "server");
    ASSERT_TRUE(m_server->isListening()) << m_server->log();
  }
  void TearDown() override {
    ProbeTest::TearDown();
    m_server.reset();
  }

  std::string ssh() const { return m_server->command(); }
  /// Python behind ssh, with this test's folder for temporary files, so that what is left behind is seen.
  Environment there(const std::string& before = {}, const std::string& way = {}) {
    return withFakes(fmt::format("{} {} {} env TMPDIR={}", before, ssh(), way, (m_folder / "temporary").string()));
  }

  std::optional<SshServer> m_server;
};

TEST_F(Ssh, CarriesEverything) {
  const auto job = started(there());
  ASSERT_TRUE(job);
  const auto answer = job->ask({.json = {{"op", "echo"}}, .files = {{"network", file("network", "a network")}}}, {});
  ASSERT_TRUE(answer.ok()) << answer.error().text();
  EXPECT_EQ(textOfFile(answer.value().files.at("network")), "a network");
}

TEST_F(Ssh, CarriesFilesInPiecesWithLatency) {
  const std::string content(3'000'000, 'x');
  const auto job = started(there(relay("--far --delay 30")));
  ASSERT_TRUE(job);
  const auto answer = job->ask({.json = {{"op", "echo"}}, .files = {{"network", file("network", content)}}}, {});
  ASSERT_TRUE(answer.ok()) << answer.error().text();
  EXPECT_EQ(textOfFile(answer.value().files.at("network")), content);
}

TEST_F(Ssh, ThroughAnotherMachineArgumentsAreParsedThreeTimes) {
  const auto job = started(there({}, ssh()));
  ASSERT_TRUE(job);
  EXPECT_EQ(asked(*job, "odd_numbers")["text"], "a?b");
}

TEST_F(Ssh, BehindATerminalThere) {
  const auto job = started(there({}, "-tt"));
  ASSERT_TRUE(job);
  EXPECT_EQ(asked(*job, "odd_numbers")["text"], "a?b");
}

TEST_F(Ssh, CancellingEndsTheProcessThere) {
  const auto job = started(there());
  ASSERT_TRUE(job);
  std::stop_source stop;
  const auto answer = job->ask({.json = {{"op", "wait"}, {"how", "holding the interpreter"}}, .files = {}},
                               stop.get_token(), [&](auto, auto) { stop.request_stop(); });
  ASSERT_FALSE(answer.ok());
  EXPECT_TRUE(answer.error().cancelled);
  const int process = job->opened()["about"]["pid"];
  EXPECT_TRUE(eventually([&] { return !runs(process); }));
}

TEST_F(Ssh, NothingIsLeftThereWhenTheConnectionBreaks) {
  const auto job = started(there());
  ASSERT_TRUE(job);
  const int child = job->opened()["about"]["pid"], listener = job->opened()["about"]["listener"];
  const auto answer =
      job->ask({.json = {{"op", "wait"}, {"how", "holding the interpreter"}}, .files = {}}, {}, [&](auto, auto) {
        for (const int process : processes())
          if (textOfFile(fmt::format("/proc/{}/comm", process)) == "ssh\n") ::kill(process, SIGKILL);
      });
  ASSERT_FALSE(answer.ok());
  EXPECT_NE(answer.error().message.find("ended or closed the connection"), std::string::npos) << answer.error().text();
  EXPECT_TRUE(eventually([&] { return !runs(child) && !runs(listener); }));
}

TEST_F(Ssh, WhereNobodyMayLogInItSaysSo) {
  m_server->refuseAll();
  const auto job = ProbeJob::start(there(), "echo", {});
  ASSERT_FALSE(job.ok());
  EXPECT_NE(job.error().text().find("Permission denied"), std::string::npos) << job.error().text();
  EXPECT_NE(job.error().text().find("without asking for a password"), std::string::npos) << job.error().text();
}

TEST_F(Ssh, ACommandThatIsMissingThere) {
  const auto job = ProbeJob::start(confirmed(ssh() + " no-such-python"), "echo", {});
  ASSERT_FALSE(job.ok());
  EXPECT_NE(job.error().text().find("status 127"), std::string::npos) << job.error().text();
  EXPECT_NE(job.error().text().find("no-such-python"), std::string::npos) << job.error().text();
}

}  // namespace
