#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace fusescope::test {

/// A real sshd on the loopback interface with its own keys, which runs until this object is destroyed. As with every
/// sshd, a shell parses the arguments of a command again. The programs that it runs have the environment variables that
/// sshd sets, not those of the test.
class SshServer {
 public:
  /// Returns why no sshd can run here, as a sentence; empty if one can.
  static std::string whyNot();
  /// Writes keys, configuration and log into `folder`, which must exist longer than this object. Call isListening()
  /// before anything else.
  explicit SshServer(std::filesystem::path folder);
  ~SshServer();
  SshServer(const SshServer&) = delete;
  SshServer& operator=(const SshServer&) = delete;

  bool isListening() const { return m_isListening; }
  std::string log() const;
  /// Returns the command that runs, on this server, the words that are appended to it.
  std::string command() const;
  /// Refuses all logins from now on.
  void refuseAll() const;

 private:
  std::filesystem::path m_folder;
  int m_port = 0;
  pid_t m_server = -1;
  bool m_madeFolder = false, m_isListening = false;
};

}  // namespace fusescope::test
