#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/guarded_memory.h"
#include "base/result.h"

namespace fusescope {

/// Identifies the file that a path leads to, and its content. If the file is replaced or written again, its identity
/// changes, even if the size is equal and the time of modification was set back.
struct FileIdentity {
  std::string path;
  std::uint64_t device = 0, inode = 0;
  std::int64_t bytes = 0;
  std::int64_t modifiedNs = 0;  ///< when its bytes were last written; programs can set this time
  std::int64_t changedNs = 0;   ///< when its bytes or attributes last changed; no program can set this time
  auto operator<=>(const FileIdentity&) const = default;
};

Result<FileIdentity> identityOf(const std::filesystem::path& path);
/// Returns whether no later change can leave the file with this identity: its last change was some seconds ago. Two
/// changes within one tick of the file system's clock may have the same time.
bool isSettled(const FileIdentity& file);
/// Checks that every path still leads to the same file with the same content. The error is located at the first path
/// that does not.
Status checkUnchanged(std::span<const FileIdentity> files);
/// Returns `result`, or an error if one of `files` has changed, because the result is then of neither the old file nor
/// the new one.
template <class T>
Result<T> unlessChanged(Result<T> result, std::span<const FileIdentity> files) {
  if (!result.ok() && result.error().cancelled) return result;
  TRY(checkUnchanged(files));
  return result;
}

/// A whole file that is mapped read-only. The mapping exists as long as the object, which is cheap to share. If the
/// same content is opened by the same path again, the same object is returned, so that a process has each weight in
/// memory only once.
///
/// The file may change while it is mapped. If it becomes shorter, the process continues, and the missing part is read
/// as zeros. For this reason, whoever computes from bytes() must call checkIntact() before using the result.
class MappedFile {
 public:
  /// Opens and maps a file. Thread-safe. It is an error if the file cannot be read or is not a regular file.
  static Result<std::shared_ptr<const MappedFile>> open(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  std::span<const std::byte> bytes() const { return m_bytes; }
  bool holds(const std::byte* at) const { return at >= m_bytes.data() && at < m_bytes.data() + m_bytes.size(); }
  /// Returns the memory of the whole pages in `part`, a part of bytes(), to the system. When they are read again, they
  /// are read from the file.
  void release(std::span<const std::byte> part) const;
  /// Tells the system that `part` will be read in random order, like single rows of a table, so that neighbouring pages
  /// are not read in advance.
  void adviseRandomAccess(std::span<const std::byte> part) const;
  const FileIdentity& identity() const { return m_identity; }
  /// Returns whether bytes were read that the file no longer had.
  bool damaged() const { return m_guard && m_guard->damaged(); }
  /// Checks that bytes() are still what they were when the file was opened. That is also true if the file was removed
  /// or another file took its place. Otherwise, the error says what happened to the file.
  Status checkIntact() const;

 private:
  MappedFile(FileIdentity identity, std::span<const std::byte> bytes);
  void advise(std::span<const std::byte> part, int advice) const;
  FileIdentity m_identity;
  std::span<const std::byte> m_bytes;
  std::unique_ptr<GuardedMemory> m_guard;  ///< null for an empty file
};

using MappedFiles = std::vector<std::shared_ptr<const MappedFile>>;

Status checkIntact(const MappedFiles& files);
/// Checks with checkIntact(), and also that the paths still lead to these files, so that what is on disk now is what
/// was read.
Status checkCurrent(const MappedFiles& files);
std::vector<FileIdentity> identitiesOf(const MappedFiles& files);

}  // namespace fusescope
