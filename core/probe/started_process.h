#pragma once

#include <sys/types.h>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.h"
#include "base/result.h"
#include "probe/group_watcher.h"

namespace fusescope {

/// A child process with pipes for its standard input, output and error. It has its own session: signals of the terminal
/// do not end it, and it cannot ask for passwords on the terminal. Other children do not inherit the pipes. The
/// destructor closes its standard input, gives it some time to end, and then kills its whole process group. A watcher
/// does the same if this process ends first.
class StartedProcess {
 public:
  /// Starts `words[0]`, which is searched for on PATH. `variables` are its environment variables, each "NAME=VALUE"; if
  /// there are none, it gets those of this process. Errors: there is no such command, or the system refuses.
  static Result<StartedProcess> start(const std::vector<std::string>& words,
                                      const std::optional<std::vector<std::string>>& variables = {});
  StartedProcess(StartedProcess&& other) noexcept;
  StartedProcess& operator=(StartedProcess&&) = delete;
  ~StartedProcess() { finish(); }

  int in() const { return m_in.number(); }    ///< its standard input, for poll()
  int out() const { return m_out.number(); }  ///< its standard output; reading does not block
  int error() const { return m_error.number(); }
  /// Writes as many bytes as the pipe accepts. Returns their number, or -1 and errno: EAGAIN, or EPIPE if nobody reads.
  ssize_t write(std::string_view bytes);
  pid_t id() const { return m_id; }
  /// Closes its pipes, and kills it if it does not end by itself.
  void finish();
  /// Returns whether it ends within `patience`; end() says how.
  bool endsWithin(std::chrono::milliseconds patience);
  /// Returns how it ended, "status 2" or "signal 9 (Killed)"; empty while it runs.
  std::string end() const;
  /// Returns its exit status; -1 if a signal ended it or if it is running.
  int exitStatus() const;

 private:
  StartedProcess(pid_t id, GroupWatcher watcher, Descriptor in, Descriptor out, Descriptor error);
  bool hasEnded();

  pid_t m_id = -1;
  GroupWatcher m_watcher;
  Descriptor m_in, m_out, m_error;
  bool m_ended = false;
  int m_status = 0;  ///< see waitpid()
};

/// Returns the name of a signal, as "signal 11 (Segmentation fault)".
std::string signalInWords(int number);

/// Keeps the end of what a process printed, up to a number of bytes.
class LastWords {
 public:
  static constexpr std::size_t kMost = std::size_t{16} << 10;
  void add(std::string_view text);
  /// Returns the text without the output of interactive Python itself, and without blanks at both ends.
  std::string text() const;

 private:
  std::string m_text;
};

}  // namespace fusescope
