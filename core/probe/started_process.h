#pragma once

#include <sys/types.h>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.h"
#include "base/result.h"

namespace fusescope {

/// A process that we started, with pipes for its standard input, output and error. It is in a session of its own: what
/// ends the terminal's programs does not end it, and it asks no terminal for passwords. Nothing that we start inherits
/// the pipes. When the object goes, its standard input is closed, it is given some time to end, and then it is ended
/// with its whole process group.
class StartedProcess {
 public:
  /// Looks for `words[0]` on PATH. Errors: there is no such command, or the system refuses.
  /// `variables`: what it finds in its environment, "NAME=VALUE" each; none: what this process has.
  static Result<StartedProcess> start(const std::vector<std::string>& words,
                                      const std::optional<std::vector<std::string>>& variables = {});
  StartedProcess(StartedProcess&& other) noexcept;
  StartedProcess& operator=(StartedProcess&&) = delete;
  ~StartedProcess() { finish(); }

  int in() const { return m_in.number(); }    ///< its standard input, for poll()
  int out() const { return m_out.number(); }  ///< what it prints; reading does not block
  int error() const { return m_error.number(); }
  /// Writes what there is room for. Returns the number of bytes, or -1 and errno: EAGAIN, or EPIPE where nobody reads.
  ssize_t write(std::string_view bytes);
  pid_t id() const { return m_id; }
  /// Closes its pipes, and ends it where it does not end by itself.
  void finish();
  /// Whether it ends within `patience`; status() says how.
  bool endsWithin(std::chrono::milliseconds patience);
  /// "status 2", "signal 9 (Killed)"; empty while it runs.
  std::string end() const;
  /// Its exit status, -1 where a signal ended it or it runs.
  int exitStatus() const;

 private:
  StartedProcess(pid_t id, Descriptor in, Descriptor out, Descriptor error);
  bool hasEnded();

  pid_t m_id = -1;
  Descriptor m_in, m_out, m_error;
  bool m_ended = false;
  int m_status = 0;  ///< as waitpid() gives it
};

/// "signal 11 (Segmentation fault)".
std::string signalInWords(int number);

/// The last that a process printed, up to a number of bytes.
class LastWords {
 public:
  static constexpr std::size_t kMost = std::size_t{16} << 10;
  void add(std::string_view text);
  /// Without what interactive Python prints by itself, and without blank ends.
  std::string text() const;

 private:
  std::string m_text;
};

}  // namespace fusescope
