#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fusescope {

/// A whole file mapped read-only. Keeps the mapping for as long as it lives; cheap to share.
class MappedFile {
 public:
  static Result<std::shared_ptr<const MappedFile>> open(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  std::span<const std::byte> bytes() const { return m_bytes; }

 private:
  explicit MappedFile(std::span<const std::byte> bytes) : m_bytes(bytes) {}
  std::span<const std::byte> m_bytes;
};

Result<std::string> readTextFile(const std::filesystem::path& path);

/// Writes beside `path` and renames: at every moment `path` is either as it was or whole. Flushed to disk.
Status writeFileAtomically(const std::filesystem::path& path, std::span<const std::byte> bytes);
Status writeFileAtomically(const std::filesystem::path& path, std::string_view text);
/// The same for bytes that lie apart, written one piece after another.
Status writePiecesAtomically(const std::filesystem::path& path, std::span<const std::span<const std::byte>> pieces);

/// The folder for caches: $FUSESCOPE_CACHE, else ~/.cache/fusescope. Made if it is missing.
Result<std::filesystem::path> cacheFolder();

}  // namespace fusescope
