#pragma once

#include <mutex>
#include <optional>
#include <string>

namespace fusescope::worker {

/// Reads lines from the process's standard input and writes lines to its standard output. The output has a descriptor
/// of its own: text that libraries print to standard output goes to standard error, so that it cannot disturb the
/// protocol.
class LineChannel {
 public:
  LineChannel();
  /// Waits for the next line and returns it; returns nullopt if the other side has closed the input. Only one thread
  /// may read.
  std::optional<std::string> read();
  /// Writes a whole line. May be called in any thread. If the other side has closed the output, the process ends,
  /// because nobody needs its work any more.
  void write(const std::string& line);

 private:
  int m_output = -1;
  std::mutex m_writing;
  std::string m_pending;
};

}  // namespace fusescope::worker
