#pragma once

#include <mutex>
#include <optional>
#include <string>

namespace fusescope::worker {

/// Lines over the process's standard input and output. The output keeps a descriptor of its own: whatever libraries
/// print to standard output goes to standard error and cannot break the protocol.
class LineChannel {
 public:
  LineChannel();
  /// The next line, waiting for it; nothing when the other side has closed. One reader.
  std::optional<std::string> read();
  /// Writes a whole line. Any thread. A closed other side ends the process: nobody is left to work for.
  void write(const std::string& line);

 private:
  int m_output = -1;
  std::mutex m_writing;
  std::string m_pending;
};

}  // namespace fusescope::worker
