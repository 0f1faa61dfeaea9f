#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"

namespace fusescope {

/// A file of this process that is only written when something is going to read it, because it is large and often
/// nothing does. Whoever opens a file whose path may be that of such an object calls writeDeferred() first.
class DeferredFile {
 public:
  /// `write` writes the file at `path`. It is called at most once, while this object exists.
  DeferredFile(std::filesystem::path path, std::function<Status()> write);
  ~DeferredFile();
  DeferredFile(const DeferredFile&) = delete;
  DeferredFile& operator=(const DeferredFile&) = delete;

  const std::filesystem::path& path() const { return m_path; }
  /// Writes the file unless it was written. Returns the error of the first attempt again. Thread-safe.
  Status write();

 private:
  const std::filesystem::path m_path;
  const std::function<Status()> m_write;
  std::mutex m_mutex;
  std::optional<Status> m_written;
};

/// Writes the file at `path` if it is a DeferredFile that was not written yet, and does nothing for all other paths.
/// The object must exist until this returns. Thread-safe.
Status writeDeferred(const std::filesystem::path& path);
/// Does this for all files of a request, which have names.
Status writeDeferred(const std::map<std::string, std::filesystem::path>& files);

}  // namespace fusescope
