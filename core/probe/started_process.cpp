#include "probe/started_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fcntl.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "probe/spawning.h"

namespace fusescope {
namespace {

constexpr std::chrono::milliseconds kPatience{500};  ///< the time that a process gets to end by itself

Result<Pipe> openPipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return Diagnostic{.message = fmt::format("no pipe can be opened: {}", std::strerror(errno))};
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

/// Returns pointers to the texts, followed by a null pointer.
std::vector<char*> pointersTo(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Result<StartedProcess> StartedProcess::start(const std::vector<std::string>& words,
                                             const std::optional<std::vector<std::string>>& variables) {
  Pipe in = TRY(openSocket()), out = TRY(openPipe()), error = TRY(openPipe());
  std::vector<std::string> copies = words, environment = variables.value_or(std::vector<std::string>());
  const std::vector<char*> arguments = pointersTo(copies), entries = pointersTo(environment);
  char* const* const there = variables ? entries.data() : environ;
  GroupWatcher watcher = GroupWatcher::start();
  pid_t id = -1;
  const int failed = startWatched({.standard = {in.read.number(), out.write.number(), error.write.number()},
                                   .watcher = watcher.connection(),
                                   .words = arguments.data(),
                                   .variables = there},
                                  id);
  if (failed == ENOENT)
    return Diagnostic{.message = fmt::format("there is no command \"{}\"", words[0]),
                      .help = "Install it, or give its full path."};
  if (failed != 0)
    return Diagnostic{.message = fmt::format("\"{}\" cannot be started: {}", words[0], std::strerror(failed))};
  for (const int end : {in.write.number(), out.read.number(), error.read.number()}) ::fcntl(end, F_SETFL, O_NONBLOCK);
  return StartedProcess(id, std::move(watcher), std::move(in.write), std::move(out.read), std::move(error.read));
}

ssize_t StartedProcess::write(std::string_view bytes) {
  return ::send(m_in.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

StartedProcess::StartedProcess(pid_t id, GroupWatcher watcher, Descriptor in, Descriptor out, Descriptor error)
    : m_id(id), m_watcher(std::move(watcher)), m_in(std::move(in)), m_out(std::move(out)), m_error(std::move(error)) {}

StartedProcess::StartedProcess(StartedProcess&& other) noexcept
    : m_id(std::exchange(other.m_id, -1)),
      m_watcher(std::move(other.m_watcher)),
      m_in(std::move(other.m_in)),
      m_out(std::move(other.m_out)),
      m_error(std::move(other.m_error)),
      m_ended(other.m_ended),
      m_status(other.m_status) {}

void StartedProcess::finish() {
  if (m_id <= 0) return;
  m_in.close();
  m_out.close();  // a process that continues to write gets an error
  m_error.close();
  if (endsWithin(kPatience)) return;
  ::kill(-m_id, SIGKILL);
  m_watcher.dismiss();
  m_ended = ::waitpid(m_id, &m_status, 0) == m_id;
}

bool StartedProcess::hasEnded() {
  if (m_ended) return true;
  siginfo_t state{};
  ::waitid(P_PID, static_cast<id_t>(m_id), &state, WEXITED | WNOHANG | WNOWAIT);
  if (state.si_pid != m_id) return false;
  m_watcher.dismiss();
  m_ended = ::waitpid(m_id, &m_status, 0) == m_id;
  return m_ended;
}

bool StartedProcess::endsWithin(std::chrono::milliseconds patience) {
  if (hasEnded()) return true;
  // This descriptor becomes readable when the process has ended.
  const Descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, m_id, 0)));
  const auto until = std::chrono::steady_clock::now() + patience;
  while (!hasEnded()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd end{process.number(), POLLIN, 0};
    if (process.isOpen()) {
      ::poll(&end, 1, static_cast<int>(left.count()));
    } else {
      ::poll(nullptr, 0, 2);  // for systems without pidfd_open
    }
  }
  return true;
}

std::string StartedProcess::end() const {
  if (!m_ended) return {};
  return WIFEXITED(m_status) ? fmt::format("status {}", WEXITSTATUS(m_status)) : signalInWords(WTERMSIG(m_status));
}

int StartedProcess::exitStatus() const {
  return m_ended && WIFEXITED(m_status) ? WEXITSTATUS(m_status) : -1;
}

std::string signalInWords(int number) {
  const char* name = ::sigdescr_np(number);
  return name != nullptr ? fmt::format("signal {} ({})", number, name) : fmt::format("signal {}", number);
}

void LastWords::add(std::string_view text) {
  m_text += text;
  if (m_text.size() > kMost) m_text.erase(0, m_text.size() - kMost);
}

std::string LastWords::text() const {
  std::string_view rest = m_text;
  const auto isIdle = [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '>'; };
  while (!rest.empty() && isIdle(rest.front())) rest.remove_prefix(1);
  while (!rest.empty() && isIdle(rest.back())) rest.remove_suffix(1);
  return std::string(rest);
}

}  // namespace fusescope
