#include "app/cli/interrupt.h"

#include <csignal>
#include <ctime>

namespace fusescope::cli {
namespace {

/// How often the watching thread looks whether it is still wanted.
constexpr timespec kPatience{.tv_sec = 0, .tv_nsec = 50'000'000};

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
    while (!unwanted.stop_requested()) {
      if (sigtimedwait(&set, nullptr, &kPatience) < 0) continue;
      if (m_source.stop_requested()) std::_Exit(128 + SIGINT);
      m_source.request_stop();
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
