// A real sshd on the loopback interface: the command's arguments are parsed again by a shell there.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>

#include "probe/listeners.h"
#include "tests/support/process.h"
#include "tests/unit/probe/probe_fixture.h"

using namespace fusescope;
using namespace fusescope::test;

namespace {

namespace fs = std::filesystem;

/// A port that nobody listens on.
int freePort() {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ::bind(socket, reinterpret_cast<sockaddr*>(&address), size);
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  ::close(socket);
  return ntohs(address.sin_port);
}

class Ssh : public ProbeTest {
 protected:
  static constexpr const char* kServer = "/usr/sbin/sshd";
  /// As root it wants this folder, which the system's own start of sshd makes.
  static constexpr const char* kPrivilegeFolder = "/run/sshd";

  void SetUp() override {
    ProbeTest::SetUp();
    for (const char* program : {kServer, "/usr/bin/ssh", "/usr/bin/ssh-keygen"})
      if (::access(program, X_OK) != 0) GTEST_SKIP() << program << " is not installed; scripts/setup installs it";
    if (::getuid() == 0) m_madeFolder = fs::create_directory(kPrivilegeFolder);
    for (const char* key : {"host", "user"})
      ASSERT_EQ(
          runProcess({"/usr/bin/ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", (m_folder / key).string()}).status,
          0);
    fs::copy_file(m_folder / "user.pub", m_folder / "authorized");
    m_port = freePort();
    file("sshd.conf", fmt::format("Port {}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\n"
                                  "StrictModes no\nUsePAM no\nPermitRootLogin yes\nPasswordAuthentication no\n",
                                  m_port, (m_folder / "host").string(), (m_folder / "authorized").string()));
    std::string program = kServer, configuration = (m_folder / "sshd.conf").string(), log = (m_folder / "log").string();
    std::string options[] = {"-D", "-f", "-E"};
    std::vector<char*> arguments{
        program.data(), options[0].data(), options[1].data(), configuration.data(), options[2].data(), log.data(),
        nullptr};
    // Without this test's variables: what runs there has those that sshd gives it.
    std::string path = "PATH=/usr/local/bin:/usr/bin:/bin";
    std::vector<char*> environment{path.data(), nullptr};
    ASSERT_EQ(::posix_spawn(&m_server, kServer, nullptr, nullptr, arguments.data(), environment.data()), 0);
    ASSERT_TRUE(eventually([&] { return textOfFile(log).find("listening on") != std::string::npos; }))
        << textOfFile(log);
  }

  void TearDown() override {
    ProbeTest::TearDown();
    if (m_server > 0) {
      ::kill(m_server, SIGTERM);
      ::waitpid(m_server, nullptr, 0);
    }
    if (m_madeFolder) fs::remove(kPrivilegeFolder);
  }

  std::string ssh() const {
    return fmt::format(
        "ssh -F none -p {} -i {} -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null "
        "-o BatchMode=yes -o LogLevel=ERROR 127.0.0.1",
        m_port, (m_folder / "user").string());
  }
  /// Python behind ssh, with this test's folder for temporary files, so that what is left behind is seen.
  Environment there(const std::string& before = {}, const std::string& way = {}) {
    return withFakes(fmt::format("{} {} {} env TMPDIR={}", before, ssh(), way, (m_folder / "temporary").string()));
  }

  int m_port = 0;
  pid_t m_server = -1;
  bool m_madeFolder = false;
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
  EXPECT_NE(answer.error().message.find("ended or cut the connection"), std::string::npos) << answer.error().text();
  EXPECT_TRUE(eventually([&] { return !runs(child) && !runs(listener); }));
}

TEST_F(Ssh, WhereNobodyMayLogInItSaysSo) {
  file("authorized", "");
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
