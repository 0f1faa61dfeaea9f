#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace fusescope::test {

/// A child process that does `work`, and is killed at the latest when this goes.
class KilledProcess {
 public:
  explicit KilledProcess(const std::function<void()>& work) {
    if (::pipe(pipe()) != 0) return;
    m_process = ::fork();
    if (m_process != 0) {
      ::close(pipe()[1]);
      return;
    }
    work();
    ::_exit(0);
  }
  ~KilledProcess() { kill(); }
  KilledProcess(const KilledProcess&) = delete;
  KilledProcess& operator=(const KilledProcess&) = delete;

  /// In `work`: says that all is as it is to be left, and never returns.
  [[noreturn]] static void waitToBeKilled() {
    const char here = 'w';
    if (::write(pipe()[1], &here, 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  /// Whether it came to waitToBeKilled().
  bool isWaiting() {
    char word = 0;
    return m_process > 0 && ::read(pipe()[0], &word, 1) == 1 && word == 'w';
  }
  void kill() {
    if (m_process <= 0) return;
    ::kill(m_process, SIGKILL);
    ::waitpid(m_process, nullptr, 0);
    ::close(pipe()[0]);
    m_process = -1;
  }

 private:
  static int* pipe() {
    static int ends[2];
    return ends;
  }
  pid_t m_process = -1;
};

}  // namespace fusescope::test
