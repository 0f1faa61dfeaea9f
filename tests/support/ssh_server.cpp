#include "tests/support/ssh_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/process.h"

namespace fusescope::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kServer = "/usr/sbin/sshd";
/// sshd needs this folder when it runs as root. The system makes it when it starts sshd itself.
constexpr const char* kPrivilegeFolder = "/run/sshd";
constexpr std::chrono::seconds kPatience{60};

/// Returns a port on which nobody listens.
int unusedPort() {
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

}  // namespace

std::string SshServer::whyNot() {
  for (const char* program : {kServer, "/usr/bin/ssh", "/usr/bin/ssh-keygen"})
    if (::access(program, X_OK) != 0) return fmt::format("{} is not installed; scripts/setup installs it", program);
  return {};
}

SshServer::SshServer(fs::path folder) : m_folder(std::move(folder)) {
  std::error_code failed;
  fs::create_directories(m_folder, failed);
  if (::getuid() == 0) m_madeFolder = fs::create_directory(kPrivilegeFolder, failed);
  for (const char* key : {"host", "user"})
    if (runProcess({"/usr/bin/ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", (m_folder / key).string()}).status !=
        0)
      return;
  fs::copy_file(m_folder / "user.pub", m_folder / "authorized", failed);
  m_port = unusedPort();
  std::ofstream(m_folder / "sshd.conf") << fmt::format(
      "Port {}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nStrictModes no\nUsePAM no\n"
      "PermitRootLogin yes\nPasswordAuthentication no\n",
      m_port, (m_folder / "host").string(), (m_folder / "authorized").string());
  std::string program = kServer, configuration = (m_folder / "sshd.conf").string(), log = (m_folder / "log").string();
  std::string options[] = {"-D", "-f", "-E"};
  std::vector<char*> arguments{
      program.data(), options[0].data(), options[1].data(), configuration.data(), options[2].data(), log.data(),
      nullptr};
  std::string path = "PATH=/usr/local/bin:/usr/bin:/bin";
  std::vector<char*> environment{path.data(), nullptr};
  if (::posix_spawn(&m_server, kServer, nullptr, nullptr, arguments.data(), environment.data()) != 0) return;
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!m_isListening && std::chrono::steady_clock::now() < end) {
    m_isListening = this->log().find("listening on") != std::string::npos;
    if (!m_isListening) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

SshServer::~SshServer() {
  if (m_server > 0) {
    ::kill(m_server, SIGTERM);
    ::waitpid(m_server, nullptr, 0);
  }
  std::error_code ignored;
  if (m_madeFolder) fs::remove(kPrivilegeFolder, ignored);
}

std::string SshServer::log() const {
  std::ostringstream text;
  text << std::ifstream(m_folder / "log").rdbuf();
  return text.str();
}

std::string SshServer::command() const {
  return fmt::format(
      "ssh -F none -p {} -i {} -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o BatchMode=yes "
      "-o LogLevel=ERROR 127.0.0.1",
      m_port, (m_folder / "user").string());
}

void SshServer::refuseAll() const {
  std::ofstream(m_folder / "authorized", std::ios::trunc);
}

}  // namespace fusescope::test
