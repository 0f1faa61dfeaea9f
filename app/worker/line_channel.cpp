#include "app/worker/line_channel.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace fusescope::worker {

LineChannel::LineChannel() : m_output(dup(STDOUT_FILENO)) {
  dup2(STDERR_FILENO, STDOUT_FILENO);
}

std::optional<std::string> LineChannel::read() {
  while (true) {
    const auto end = m_pending.find('\n');
    if (end != std::string::npos) {
      std::string line = m_pending.substr(0, end);
      m_pending.erase(0, end + 1);
      return line;
    }
    char buffer[4096];
    const auto got = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return {};
    m_pending.append(buffer, static_cast<std::size_t>(got));
  }
}

void LineChannel::write(const std::string& line) {
  const std::lock_guard lock(m_writing);
  std::size_t done = 0;
  while (done < line.size()) {
    const auto put = ::write(m_output, line.data() + done, line.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) std::_Exit(0);
    done += static_cast<std::size_t>(put);
  }
}

}  // namespace fusescope::worker
