#include "app/cli/interrupt.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>

namespace fusescope::cli {
namespace {

/// How often the watching thread looks whether it is still wanted.
constexpr timespec kPatience{.tv_sec = 0, .tv_nsec = 50'000'000};

/// Signals so close together are one interrupt: who ends a group of processes may reach this one twice.
constexpr std::chrono::milliseconds kOneInterrupt(500);

sigset_t interrupts() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

InterruptStop::InterruptStop() {
  const sigset_t set = interrupts();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  m_watch = std::jthread([this, set](const std::stop_token& unwanted) {
    std::chrono::steady_clock::time_point first;
    while (!unwanted.stop_requested()) {
      if (sigtimedwait(&set, nullptr, &kPatience) < 0) continue;
      const auto now = std::chrono::steady_clock::now();
      if (m_source.stop_requested() && now - first > kOneInterrupt) std::_Exit(128 + SIGINT);
      if (m_source.request_stop()) first = now;
    }
  });
}

InterruptStop::~InterruptStop() {
  m_watch.request_stop();
  m_watch.join();
  const sigset_t set = interrupts();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace fusescope::cli
