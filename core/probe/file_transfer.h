#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "probe/listener.h"
#include "probe/probe_request.h"
#include "probe/sha256.h"
#include "probe/started_process.h"

namespace fusescope {

/// Describes the files of a request for the probe: [{name, size, path, identity[]}] if both sides see the same files,
/// otherwise [{name, size, sha256}]. Errors: a file is missing or not a regular file, a name is invalid; cancelled.
Result<Json> describedFiles(const ProbeRequest& request, bool isLocal, const StopToken& stop);

/// Sends the files that a probe asked for, in pieces. Only as much is unacknowledged at a time as the connection
/// transfers in half a second, so that other messages, such as the end of the job, are not delayed.
class FileSender {
 public:
  FileSender(Listener& listener, std::int64_t job) : m_listener(listener), m_job(job) {}
  /// Adds a file to send. Errors: it is not a file of the request.
  Status add(const std::string& sha256, const ProbeRequest& request, const Json& described);
  bool isDone() const { return m_files.empty(); }
  /// Sends as many pieces as may be unacknowledged now. Errors: a file cannot be read, or has changed.
  Status sendOn();
  /// Records that the probe has received the first `at` bytes of the file.
  void acknowledged(std::uint64_t at);

 private:
  using Clock = std::chrono::steady_clock;
  struct File {
    std::string sha256;
    std::filesystem::path path;
    std::uint64_t size = 0, sent = 0, acknowledged = 0;
    Descriptor descriptor{};
  };
  struct OnTheWay {
    std::uint64_t end = 0;
    Clock::time_point since;
  };

  Listener& m_listener;
  const std::int64_t m_job;
  std::deque<File> m_files;  ///< the front one is being sent
  std::deque<OnTheWay> m_onTheWay;
  std::uint64_t m_window = std::uint64_t{256} << 10;
};

/// Receives the files of an answer in pieces and writes them to their folder.
class FileReceiver {
 public:
  /// `files` is the list in the answer, [{name, size}]; `folder` is where they are written. Errors: a name that leads
  /// out of the folder, too many bytes.
  static Result<FileReceiver> forAnswer(const Json& files, const std::filesystem::path& folder);
  bool isDone() const { return m_next == m_files.size(); }
  /// Processes a frame "piece" or "file". Errors: it is not the expected one, it is damaged, the file cannot be
  /// written.
  Status take(const Frame& frame);
  /// Returns the bytes of all files that were received so far.
  std::uint64_t received() const { return m_received; }
  std::map<std::string, std::filesystem::path> files() const;

 private:
  struct File {
    std::string name;
    std::filesystem::path path;
    std::uint64_t size = 0;
  };
  std::vector<File> m_files;
  std::size_t m_next = 0;  ///< the file that is being received
  std::uint64_t m_at = 0, m_received = 0;
  Descriptor m_descriptor;
  Sha256 m_hash;
};

}  // namespace fusescope
