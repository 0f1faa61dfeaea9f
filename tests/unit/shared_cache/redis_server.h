#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <thread>

#include "base/descriptor.h"
#include "cache/redis_place.h"
#include "tests/unit/shared_cache/shared_tests.h"

namespace fusescope {

inline sockaddr_un socketAddress(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  return address;
}

/// A Redis of a test's own, on a socket in a folder of its own, which keeps nothing on disk.
class RedisServer {
 public:
  explicit RedisServer(std::vector<std::string> options = {}) : m_options(std::move(options)) { start(); }
  ~RedisServer() { kill(); }
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  static bool isInstalled() {
    for (const char* folder : {"/usr/bin/", "/usr/local/bin/", "/bin/", "/usr/sbin/"})
      if (::access((std::string(folder) + "redis-server").c_str(), X_OK) == 0) return true;
    return false;
  }

  /// Waits until it answers. One that was killed before has forgotten everything.
  void start() {
    std::vector<std::string> words{
        "redis-server", "--port", "0",     "--unixsocket",          socketPath(), "--save", "",
        "--appendonly", "no",     "--dir", m_folder.path().string()};
    words.insert(words.end(), m_options.begin(), m_options.end());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const pid_t parent = ::getpid();
    m_process = ::fork();
    if (m_process == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(1);
      const int none = ::open("/dev/null", O_RDWR);
      ::dup2(none, 1);
      ::dup2(none, 2);
      ::execvp("redis-server", arguments.data());
      ::_exit(127);
    }
    for (int i = 0; i < 600; ++i) {
      const auto place = redisPlace({.path = socketPath()}, {.limit = kEnoughTime});
      if (place->get(std::string(64, '0')).ok()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    ADD_FAILURE() << "redis-server does not answer";
  }
  void kill() {
    if (m_process <= 0) return;
    ::kill(m_process, SIGKILL);
    ::waitpid(m_process, nullptr, 0);
    m_process = -1;
    std::filesystem::remove(socketPath());
  }

  std::string socketPath() const { return m_folder / "redis"; }
  std::unique_ptr<SharedPlace> place(RedisPlaceOptions options = {.limit = kEnoughTime}) const {
    return redisPlace({.path = socketPath()}, options);
  }

 private:
  const TemporaryFolder m_folder =
      TemporaryFolder::in(std::filesystem::temp_directory_path(), "fusescope-redis").value();
  const std::vector<std::string> m_options;
  pid_t m_process = -1;
};

/// A server that does with each connection what a test says, until that returns. Counts who connected.
class OddServer {
 public:
  explicit OddServer(std::function<void(int connection)> serve)
      : m_serve(std::move(serve)), m_listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const sockaddr_un address = socketAddress(path());
    EXPECT_EQ(::bind(m_listener.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(m_listener.number(), 16), 0);
    m_thread = std::thread([this] {
      for (;;) {
        const Descriptor connection(::accept(m_listener.number(), nullptr, nullptr));
        if (!connection.isOpen()) return;
        ++m_connections;
        m_serve(connection.number());
      }
    });
  }
  ~OddServer() {
    ::shutdown(m_listener.number(), SHUT_RDWR);
    m_thread.join();
  }
  OddServer(const OddServer&) = delete;
  OddServer& operator=(const OddServer&) = delete;

  std::string path() const { return m_folder / "odd"; }
  int connections() const { return m_connections; }

 private:
  const TemporaryFolder m_folder = TemporaryFolder::in(std::filesystem::temp_directory_path(), "fusescope-odd").value();
  const std::function<void(int)> m_serve;
  Descriptor m_listener;
  std::atomic<int> m_connections{0};
  std::thread m_thread;
};

}  // namespace fusescope
