#include "base/deferred_file.h"

#include <utility>

namespace fusescope {
namespace {

/// The objects that exist, by their paths.
struct DeferredFiles {
  std::mutex mutex;
  std::map<std::filesystem::path, DeferredFile*> byPath;
};

DeferredFiles& deferredFiles() {
  static DeferredFiles ofProcess;
  return ofProcess;
}

}  // namespace

DeferredFile::DeferredFile(std::filesystem::path path, std::function<Status()> write)
    : m_path(std::move(path)), m_write(std::move(write)) {
  const std::scoped_lock lock(deferredFiles().mutex);
  deferredFiles().byPath.insert_or_assign(m_path, this);
}

DeferredFile::~DeferredFile() {
  const std::scoped_lock lock(deferredFiles().mutex);
  deferredFiles().byPath.erase(m_path);
}

Status DeferredFile::write() {
  const std::scoped_lock lock(m_mutex);
  if (!m_written) m_written = m_write();
  return *m_written;
}

Status writeDeferred(const std::filesystem::path& path) {
  DeferredFile* file = nullptr;
  {
    const std::scoped_lock lock(deferredFiles().mutex);
    const auto found = deferredFiles().byPath.find(path);
    if (found != deferredFiles().byPath.end()) file = found->second;
  }
  return file == nullptr ? Status(Done{}) : file->write();
}

Status writeDeferred(const std::map<std::string, std::filesystem::path>& files) {
  for (const auto& [name, path] : files) TRY(writeDeferred(path));
  return Done{};
}

}  // namespace fusescope
