#include "tests/support/isolated_runs.h"

#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>

#include "base/sanitizers.h"

namespace fusescope::test {
namespace {

using Clock = std::chrono::steady_clock;

/// A process and the items that it runs, in order. For each item it writes the length of the text, followed by the
/// text.
struct Child {
  pid_t process = -1;
  int pipe = -1;
  std::deque<std::size_t> left;  ///< items that are not finished; the first one is running
  std::string received;          ///< the bytes of a message that is not complete yet
  Clock::time_point since;       ///< the time at which the running item began
};

void writeAll(int pipe, const void* data, std::size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t wrote = ::write(pipe, at, bytes);
    if (wrote <= 0) ::_exit(2);
    at += wrote;
    bytes -= static_cast<std::size_t>(wrote);
  }
}

/// Gives work to the children until every item has a result.
class Pool {
 public:
  Pool(std::size_t count, const std::function<std::string(std::size_t)>& work, const IsolationOptions& options)
      : m_work(work), m_options(options), m_results(count) {
    for (std::size_t i = 0; i < count; ++i) m_waiting.push_back(i);
  }

  std::vector<IsolatedResult> run() {
    while (!m_waiting.empty() || !m_children.empty()) {
      while (m_children.size() < static_cast<std::size_t>(m_options.jobs) && !m_waiting.empty()) start();
      waitForNews();
    }
    return std::move(m_results);
  }

 private:
  [[noreturn]] void childMain(int pipe, const std::deque<std::size_t>& items) {
    // Sanitizers reserve terabytes of addresses.
    constexpr bool kHasShadow = FUSESCOPE_ADDRESS_SANITIZER || FUSESCOPE_THREAD_SANITIZER;
    if (m_options.memoryBytes > 0 && !kHasShadow) {
      const rlimit limit{m_options.memoryBytes, m_options.memoryBytes};
      ::setrlimit(RLIMIT_AS, &limit);
    }
    const rlimit noCore{0, 0};
    ::setrlimit(RLIMIT_CORE, &noCore);
    for (const std::size_t item : items) {
      const std::string text = m_work(item);
      const std::uint64_t length = text.size();
      writeAll(pipe, &length, sizeof length);
      writeAll(pipe, text.data(), text.size());
    }
    ::_exit(0);
  }

  void start() {
    auto child = std::make_unique<Child>();
    const auto taken = static_cast<std::ptrdiff_t>(std::min(m_options.itemsPerProcess, m_waiting.size()));
    child->left.assign(m_waiting.begin(), m_waiting.begin() + taken);
    m_waiting.erase(m_waiting.begin(), m_waiting.begin() + taken);
    int ends[2];
    if (::pipe(ends) != 0) std::abort();
    child->process = ::fork();
    if (child->process < 0) std::abort();
    if (child->process == 0) {
      ::close(ends[0]);
      childMain(ends[1], child->left);
    }
    ::close(ends[1]);
    child->pipe = ends[0];
    child->since = Clock::now();
    m_children.push_back(std::move(child));
  }

  void waitForNews() {
    std::vector<pollfd> polled;
    for (const auto& child : m_children) polled.push_back({.fd = child->pipe, .events = POLLIN, .revents = 0});
    ::poll(polled.data(), polled.size(), 100);
    for (std::size_t i = 0; i < polled.size(); ++i) {
      Child& child = *m_children[i];
      const bool ended = polled[i].revents != 0 && !readFrom(child);
      const bool late = Clock::now() - child.since > std::chrono::duration<double>(m_options.secondsPerItem);
      if (late && !ended) ::kill(child.process, SIGKILL);
      if (late || ended) finish(child, late && !ended);
    }
    std::erase_if(m_children, [](const auto& child) { return child->pipe < 0; });
  }

  /// Returns false when the child has closed its end of the pipe.
  bool readFrom(Child& child) {
    char buffer[4096];
    const ssize_t got = ::read(child.pipe, buffer, sizeof buffer);
    if (got <= 0) return false;
    child.received.append(buffer, static_cast<std::size_t>(got));
    for (;;) {
      std::uint64_t length = 0;
      if (child.received.size() < sizeof length) return true;
      std::memcpy(&length, child.received.data(), sizeof length);
      if (child.received.size() < sizeof length + length) return true;
      m_results[child.left.front()].text = child.received.substr(sizeof length, length);
      child.received.erase(0, sizeof length + length);
      child.left.pop_front();
      child.since = Clock::now();
    }
  }

  /// Handles the end of a child: the item that was running has failed, and its other items are given to another child.
  void finish(Child& child, bool late) {
    int status = 0;
    ::waitpid(child.process, &status, 0);
    ::close(child.pipe);
    child.pipe = -1;
    if (child.left.empty()) return;
    IsolatedResult& result = m_results[child.left.front()];
    result.problem = late ? "takes too long" : "crashes";
    if (late)
      result.detail = "stopped after the seconds it may take";
    else if (WIFSIGNALED(status))
      result.detail = std::string("ended by: ") + ::strsignal(WTERMSIG(status));
    else
      result.detail = "ended with status " + std::to_string(WEXITSTATUS(status));
    child.left.pop_front();
    m_waiting.insert(m_waiting.begin(), child.left.begin(), child.left.end());
  }

  const std::function<std::string(std::size_t)>& m_work;
  const IsolationOptions& m_options;
  std::vector<IsolatedResult> m_results;
  std::deque<std::size_t> m_waiting;
  std::vector<std::unique_ptr<Child>> m_children;
};

}  // namespace

std::vector<IsolatedResult> runIsolated(std::size_t count, const std::function<std::string(std::size_t)>& work,
                                        const IsolationOptions& options) {
  return Pool(count, work, options).run();
}

}  // namespace fusescope::test
