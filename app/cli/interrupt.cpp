#include "app/cli/interrupt.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>

namespace fusescope::cli {
namespace {

/// The interval at which the watching thread checks whether it must end.
constexpr timespec kPatience{.tv_sec = 0, .tv_nsec = 50'000'000};

/// Signals within this time count as one interrupt, because a program that ends a group of processes may signal this
/// process twice.
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
