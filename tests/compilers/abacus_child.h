#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "base/json_fields.h"
#include "base/stop.h"

namespace fusescope::abacus {

/// The process that does the work of abacus (abacus_process.cpp), as the one sees it that asks: a line of JSON for each
/// question, a line for each answer. It goes with this object, and ends by itself where whoever started it is gone.
class Child {
 public:
  /// `folder`: of the files that pass between both, which the process removes where whoever started it cannot; empty:
  /// there are none.
  static Result<Child> start(std::string program, std::string folder = {}) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
      return Diagnostic{.message = fmt::format("no socket for abacus can be opened: {}", std::strerror(errno))};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    std::array<char*, 3> arguments{program.data(), folder.data(), nullptr};
    pid_t id = -1;
    const int failed = ::posix_spawn(&id, program.c_str(), &actions, &attributes, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    ::close(ends[1]);
    Child child(failed == 0 ? id : -1, ends[0]);
    if (failed != 0)
      return Diagnostic{.message = fmt::format("abacus cannot be started: {}", std::strerror(failed)),
                        .where = {.file = program}};
    return child;
  }
  Child(Child&& other) noexcept : m_id(std::exchange(other.m_id, -1)), m_socket(std::exchange(other.m_socket, -1)) {}
  Child& operator=(Child&& other) noexcept {
    std::swap(m_id, other.m_id);
    std::swap(m_socket, other.m_socket);
    return *this;
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { end(); }

  /// What it answers. `during`: what it does then, "while it compiled". Errors: what it answers as one, located at a
  /// node if it says so; that it ended, or answered what is no JSON, and is no more. Where it is stopped it is killed.
  Result<Json> ask(const Json& question, std::string_view during, const StopToken& stop) {
    TRY(checkStop(stop));
    if (!isThere()) return Diagnostic{.message = "the process of abacus is no more"};
    send(question.dump() + "\n");
    std::string line;
    while (line.find('\n') == std::string::npos) {
      if (stop.stop_requested()) {
        end();
        return Diagnostic::cancellation();
      }
      pollfd ready{.fd = m_socket, .events = POLLIN, .revents = 0};
      if (::poll(&ready, 1, kPollMs) <= 0) continue;
      std::array<char, 4096> piece{};
      const ssize_t count = ::recv(m_socket, piece.data(), piece.size(), 0);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return Diagnostic{.message = howItEnded(during)};
      line.append(piece.data(), static_cast<std::size_t>(count));
      if (line.size() > kLongestAnswer) return babbled(line, during);
    }
    const Json answer = Json::parse(line, nullptr, false);
    if (!answer.is_object()) return babbled(line, during);
    if (!answer.contains("error")) return answer;
    Diagnostic error{.message = "abacus gives no reason"};
    JsonFields(answer["error"]).read("message", error.message).read("node", error.where.node);
    return error;
  }

  /// Whether it can still be asked.
  bool isThere() const { return m_id > 0; }

 private:
  static constexpr int kPollMs = 20;  ///< how often a stop is looked for
  static constexpr int kMostPolls = 50;
  static constexpr std::size_t kLongestAnswer = std::size_t(64) << 20;

  Child(pid_t id, int socket) : m_id(id), m_socket(socket) {}

  /// That it is gone is seen when the answer is read.
  void send(std::string_view line) const {
    while (!line.empty()) {
      const ssize_t count = ::send(m_socket, line.data(), line.size(), MSG_NOSIGNAL);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return;
      line.remove_prefix(static_cast<std::size_t>(count));
    }
  }

  Diagnostic babbled(const std::string& line, std::string_view during) {
    end();
    return {.message = fmt::format("the process of abacus printed '{}' {}, which is no answer",
                                   line.substr(0, std::min<std::size_t>(line.find('\n'), 40)), during)};
  }

  /// It has closed its end: it is ending, or is killed.
  std::string howItEnded(std::string_view during) {
    int status = 0;
    pid_t ended = 0;
    for (int i = 0; i < kMostPolls && ended == 0; ++i) {
      ended = ::waitpid(m_id, &status, WNOHANG);
      if (ended == 0) ::poll(nullptr, 0, kPollMs);
    }
    if (ended > 0) m_id = -1;
    end();
    if (ended <= 0) return fmt::format("the process of abacus closed the connection {}", during);
    if (WIFSIGNALED(status))
      return fmt::format("the process of abacus was ended by signal {} ({}) {}", WTERMSIG(status),
                         ::strsignal(WTERMSIG(status)), during);
    return fmt::format("the process of abacus ended with status {} {}", WEXITSTATUS(status), during);
  }

  /// Killed before the connection is closed, it removes nothing.
  void end() {
    if (m_id > 0) {
      ::kill(-m_id, SIGKILL);
      ::waitpid(std::exchange(m_id, -1), nullptr, 0);
    }
    if (m_socket >= 0) ::close(std::exchange(m_socket, -1));
  }

  pid_t m_id;
  int m_socket;
};

}  // namespace fusescope::abacus
