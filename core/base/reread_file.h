#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/descriptor.h"
#include "base/mapped_file.h"

namespace fusescope {

/// A mapped file that is read again, in pieces that stay in the processor's cache. Bytes that are needed once are read
/// faster in this way than through the mapping, whose pages the system enters one by one and removes again.
class RereadFile {
 public:
  /// The parts of a file that are worth it, and the pieces in which they are read, in bytes.
  static constexpr std::size_t kLeastPart = 64 * 1024, kPiece = 256 * 1024;

  explicit RereadFile(std::shared_ptr<const MappedFile> file);
  /// Returns whether `bytes` are a part of the mapping whose file can be read.
  bool holds(std::span<const std::byte> bytes) const { return m_isOpen && m_file->holds(bytes.data()); }
  /// Reads the first of `bytes`, which must be part of the file, into `buffer`, at most as many as fit. Returns how
  /// many: none if the file became shorter or cannot be read. Thread-safe.
  std::size_t read(std::span<const std::byte> bytes, std::span<std::byte> buffer) const;
  const MappedFile& file() const { return *m_file; }

 private:
  std::shared_ptr<const MappedFile> m_file;
  Descriptor m_descriptor;
  bool m_isOpen = false;
};

/// Opens all of the files for rereading.
std::vector<RereadFile> reread(std::span<const std::shared_ptr<const MappedFile>> files);
/// Returns the file that holds `bytes`; null if none does.
const RereadFile* holderOf(std::span<const std::byte> bytes, std::span<const RereadFile> files);

}  // namespace fusescope
