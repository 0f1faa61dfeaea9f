#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "probe/listener.h"
#include "probe/probe_job.h"
#include "probe/sha256.h"
#include "probe/started_process.h"

namespace fusescope {

/// The files of a request as the probe is told of them: [{name, size, path, identity[]}] where both sides have the same
/// files, else [{name, size, sha256}]. Errors: a file is missing or no plain file, a name is not one; cancelled.
Result<Json> describedFiles(const ProbeRequest& request, bool isLocal, const StopToken& stop);

/// Sends the files that a probe said it needs, in pieces. Only as much is on its way at a time as the connection
/// carries in half a second, so that what is said meanwhile, that the job is to end, does not wait behind it.
class FileSender {
 public:
  FileSender(Listener& listener, std::int64_t job) : m_listener(listener), m_job(job) {}
  /// Takes a file to send. Errors: it is not one of the request's.
  Status add(const std::string& sha256, const ProbeRequest& request, const Json& described);
  bool isDone() const { return m_files.empty(); }
  /// Sends what may be on its way now. Errors: a file cannot be read or changed.
  Status sendOn();
  /// The probe has got the file's first `at` bytes.
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

/// Takes the pieces of an answer's files and writes them where they go.
class FileReceiver {
 public:
  /// `files`: of the answer, [{name, size}]; `folder`: where they go. Errors: a name that leads elsewhere, too much.
  static Result<FileReceiver> forAnswer(const Json& files, const std::filesystem::path& folder);
  bool isDone() const { return m_next == m_files.size(); }
  /// Takes a frame "piece" or "file". Errors: not what is due, damaged; it cannot be written.
  Status take(const Frame& frame);
  /// Bytes of all files so far.
  std::uint64_t received() const { return m_received; }
  std::map<std::string, std::filesystem::path> files() const;

 private:
  struct File {
    std::string name;
    std::filesystem::path path;
    std::uint64_t size = 0;
  };
  std::vector<File> m_files;
  std::size_t m_next = 0;  ///< the file that is on its way
  std::uint64_t m_at = 0, m_received = 0;
  Descriptor m_descriptor;
  Sha256 m_hash;
};

}  // namespace fusescope
