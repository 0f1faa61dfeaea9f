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
  SpawnSettings settings;
  posix_spawn_file_actions_adddup2(&settings.actions, input, STDIN_FILENO);
  for (const int output : {STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&settings.actions, output, "/dev/null", O_WRONLY, 0);
  std::string shell = "sh", option = "-c", script = kScript;
  const char* path = std::getenv("PATH");
  std::string search = fmt::format("PATH={}", path == nullptr ? "/usr/bin:/bin" : path);
  const std::array<char*, 4> words{shell.data(), option.data(), script.data(), nullptr};
  const std::array<char*, 2> variables{search.data(), nullptr};
  pid_t id = -1;
  if (::posix_spawn(&id, "/bin/sh", &settings.actions, &settings.attributes, words.data(), variables.data()) != 0)
    id = -1;
  return id;
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
