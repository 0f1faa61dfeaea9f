#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace fusescope::test {

/// A real sshd on the loopback interface, with keys of its own, for as long as this lives: the command's arguments are
/// parsed again by a shell there. What runs there has the variables that sshd gives it, not those of the test.
class SshServer {
 public:
  /// Why none can run here, as a sentence; empty: one can.
  static std::string whyNot();
  /// Keys, configuration and log are files in `folder`, which outlives it. Check isListening() before anything else.
  explicit SshServer(std::filesystem::path folder);
  ~SshServer();
  SshServer(const SshServer&) = delete;
  SshServer& operator=(const SshServer&) = delete;

  bool isListening() const { return m_isListening; }
  std::string log() const;
  /// The command that runs what stands behind it there.
  std::string command() const;
  /// From now on nobody may log in.
  void refuseAll() const;

 private:
  std::filesystem::path m_folder;
  int m_port = 0;
  pid_t m_server = -1;
  bool m_madeFolder = false, m_isListening = false;
};

}  // namespace fusescope::test
