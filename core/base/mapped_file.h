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

/// Which bytes a path leads to. Another file in its place, or the same one written again, has another identity: also at
/// the same size and with its time of modification put back.
struct FileIdentity {
  std::string path;
  std::uint64_t device = 0, inode = 0;
  std::int64_t bytes = 0;
  std::int64_t modifiedNs = 0;  ///< when its bytes were last written; programs can set it
  std::int64_t changedNs = 0;   ///< when its bytes or attributes last changed; nobody can set it
  auto operator<=>(const FileIdentity&) const = default;
};

Result<FileIdentity> identityOf(const std::filesystem::path& path);
/// Do the paths still lead to what they led to? The error is located at the first that does not.
Status checkUnchanged(std::span<const FileIdentity> files);

/// A whole file mapped read-only. Keeps the mapping for as long as it lives; cheap to share. Whoever opens the same
/// bytes by the same path meanwhile gets the same one, so that weights lie once in a process.
///
/// The file may change under it. One that becomes shorter does not end the process: what it lost reads as zeros. So
/// whoever computes from bytes() asks checkIntact() afterwards, before the result is believed.
class MappedFile {
 public:
  /// Thread-safe. Errors: it cannot be read, or is no regular file.
  static Result<std::shared_ptr<const MappedFile>> open(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  std::span<const std::byte> bytes() const { return m_bytes; }
  bool holds(const std::byte* at) const { return at >= m_bytes.data() && at < m_bytes.data() + m_bytes.size(); }
  /// Gives back the memory of whole pages of `part`, which is part of bytes(): whoever reads them again reads the file.
  void release(std::span<const std::byte> part) const;
  /// `part` will be read here and there, as a table by its rows: pages beside those that are read are not fetched.
  void expectScattered(std::span<const std::byte> part) const;
  const FileIdentity& identity() const { return m_identity; }
  /// Were bytes read that the file had lost?
  bool damaged() const { return m_guard && m_guard->damaged(); }
  /// Are bytes() still those that were there when it was opened? They are where another file was put in its place, or
  /// it was removed. Else an error that says what happened to the file.
  Status checkIntact() const;

 private:
  MappedFile(FileIdentity identity, std::span<const std::byte> bytes);
  void advise(std::span<const std::byte> part, int advice) const;
  FileIdentity m_identity;
  std::span<const std::byte> m_bytes;
  std::unique_ptr<GuardedMemory> m_guard;  ///< none of an empty file
};

using MappedFiles = std::vector<std::shared_ptr<const MappedFile>>;

Status checkIntact(const MappedFiles& files);
/// As checkIntact(), and the paths still lead to these files: what is on disk now is what was read.
Status checkCurrent(const MappedFiles& files);
std::vector<FileIdentity> identitiesOf(const MappedFiles& files);

}  // namespace fusescope
