#include "probe/group_watcher.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fcntl.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <string>
#include <utility>

#include "probe/spawning.h"

namespace fusescope {
namespace {

/// The watcher reads the number of the group and then waits for the end of its input. The processes of the group have
/// half a second to end by themselves, as they have in StartedProcess::finish().
constexpr const char* kScript = "read -r group || exit; read -r end; sleep 0.5 || sleep 1; kill -9 \"-$group\"";

/// Starts the script in a session of its own, so that signals of the terminal do not end it. The script has no other
/// pipe open, because readers of this process's output would wait for the watcher otherwise.
pid_t startScript(int input) {
  const Descriptor nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  if (!nowhere.isOpen()) return -1;
  std::string shell = "/bin/sh", option = "-c", script = kScript;
  const char* path = std::getenv("PATH");
  std::string search = fmt::format("PATH={}", path == nullptr ? "/usr/bin:/bin" : path);
  const std::array<char*, 4> words{shell.data(), option.data(), script.data(), nullptr};
  const std::array<char*, 2> variables{search.data(), nullptr};
  pid_t id = -1;
  const int failed = startWatched(
      {.standard = {input, nowhere.number(), nowhere.number()}, .words = words.data(), .variables = variables.data()},
      id);
  return failed == 0 ? id : -1;
}

}  // namespace

GroupWatcher GroupWatcher::start() {
  GroupWatcher watcher;
  auto connection = openSocket();
  if (!connection.ok()) return watcher;
  watcher.m_connection = std::move(connection.value().write);
  watcher.m_id = startScript(connection.value().read.number());
  return watcher;
}

GroupWatcher::GroupWatcher(GroupWatcher&& other) noexcept
    : m_id(std::exchange(other.m_id, -1)), m_connection(std::move(other.m_connection)) {}

void GroupWatcher::dismiss() {
  if (m_id <= 0) return;
  ::kill(m_id, SIGKILL);
  ::waitpid(std::exchange(m_id, -1), nullptr, 0);
  m_connection.close();
}

}  // namespace fusescope
