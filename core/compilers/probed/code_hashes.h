#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/json.h"
#include "base/stop.h"
#include "cache/kept_store.h"
#include "probe/environment.h"
#include "probe/probe_job.h"

namespace fusescope {

/// Finds the hash of the code that the answers of a compiler depend on in an environment: of the content of the files
/// that its witness names, package by package, and not of where they are. So two machines that have the same packages
/// find the same hashes. What was hashed is kept (kind `digest`, of this machine alone) under the identities of the
/// files, so that only files that changed are hashed again. A process in the environment hashes them meanwhile.
/// Thread-safe.
class CodeHashes {
 public:
  /// Looks for the hashes in `store`, and starts a process that finds out those that are missing. `witness` must say
  /// why_not == "".
  CodeHashes(KeptStore& store, const Environment& environment, std::string compiler, const Json& witness);
  /// Ends the process that hashes. What it did not tell by then is hashed again next time.
  ~CodeHashes();
  CodeHashes(const CodeHashes&) = delete;
  CodeHashes& operator=(const CodeHashes&) = delete;

  /// Returns {package: hash} of all packages that have code, the parts "system libraries", "LD_LIBRARY_PATH" and
  /// "python" among them. Waits for it until `most` has passed since the constructor; null: it is not known by then, a
  /// file cannot be read, or it changed since the witness was made. If all that is missing is hashed by one request, it
  /// takes a moment unless the machine has no time for it, and then a minute is waited for it. What is known is kept.
  Json wait(std::chrono::milliseconds most, const StopToken& stop);

 private:
  using Identity = std::vector<std::int64_t>;  ///< size, times and inode
  struct File {
    std::string path;
    Identity identity;
    std::string part, name;
  };
  bool readFiles(const Json& witness);  ///< returns false if an entry is not a file as a witness lists it
  void readKept();
  std::vector<std::string> missing() const;
  bool isOneRequest(const std::vector<std::string>& paths) const;  ///< whether one request hashes all of them
  void hash(ProbeJob& job, const std::vector<std::string>& paths, const StopToken& stop);
  void add(const std::vector<std::string>& paths, const Json& hashes);
  void keepNow();
  Json knownFiles() const;
  Json byPart() const;

  KeptStore& m_store;
  const std::string m_compiler, m_key, m_filesKey;
  const std::chrono::steady_clock::time_point m_began = std::chrono::steady_clock::now();
  std::vector<File> m_files;  ///< the files whose contents count
  mutable std::mutex m_mutex;
  std::condition_variable_any m_changed;
  std::map<Identity, std::string> m_known;  ///< a content with several names is hashed once
  std::size_t m_kept = 0;                   ///< how many of them are in the store
  bool m_isLittle = false;                  ///< whether one request hashes all that is missing
  bool m_isDone = false;                    ///< whether no further hashes will become known
  bool m_isKept = false;                    ///< whether the hashes are in the store or need not be stored
  Json m_hashes;                            ///< null if not all of them are known
  std::jthread m_thread;
};

}  // namespace fusescope
