#include "probe/spawning.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fcntl.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace fusescope {

namespace {

/// Sends the number of this process as a line. It allocates nothing, because it shares the memory of the process that
/// started it.
void tellNumber(int watcher) {
  std::array<char, 16> line{};
  std::size_t begin = line.size();
  line[--begin] = '\n';
  for (pid_t number = ::getpid(); number > 0; number /= 10) line[--begin] = static_cast<char>('0' + number % 10);
  (void)::send(watcher, line.data() + begin, line.size() - begin, MSG_NOSIGNAL);
}

/// Runs in the new process. That shares the memory of this one until it becomes the command, and this one waits for it.
[[noreturn]] __attribute__((noinline)) void becomeCommand(const WatchedCommand& command, volatile int& failed) {
  ::setsid();
  if (command.watcher >= 0) tellNumber(command.watcher);
  if (command.beforeCommand != nullptr) command.beforeCommand();
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  for (int number = 0; number < 3; ++number) {
    const int from = command.standard[static_cast<std::size_t>(number)];
    if (from == number)
      ::fcntl(number, F_SETFD, 0);
    else
      ::dup2(from, number);
  }
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execvpe(command.words[0], command.words, command.variables);
  failed = errno;
  ::_exit(127);
}

}  // namespace

/// It works as posix_spawn() does. No signal may run a handler in the new process, where it would change the memory of
/// both.
int startWatched(const WatchedCommand& command, pid_t& id) {
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  volatile int failed = 0;
  const pid_t child = ::vfork();
  if (child == 0) becomeCommand(command, failed);
  const int refused = child < 0 ? errno : 0;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (refused != 0) return refused;
  if (failed != 0) {
    ::waitpid(child, nullptr, 0);
    return failed;
  }
  id = child;
  return 0;
}

Result<Pipe> openSocket() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return Diagnostic{.message = fmt::format("no connection can be opened: {}", std::strerror(errno))};
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

}  // namespace fusescope
