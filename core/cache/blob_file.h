#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "base/result.h"

namespace fusescope {

/// The progress of writing an entry. Tests use it to end the process, or to let a step fail, at each phase.
enum class WritePhase {
  Begun,    ///< the temporary file exists and is empty
  Half,     ///< half of the entry is written
  Written,  ///< the whole entry is written
  Flushed,  ///< the file is flushed to the disk
  Renamed,  ///< the file has its final name, but is not in the index
  Listed,   ///< the index is about to be committed
  Done      ///< the index contains the entry
};
/// Called at every phase. If it returns an error, the writing fails at that phase, as if the disk were full.
using OnWritePhase = std::function<Status(WritePhase)>;

/// What the index stores about a blob.
struct BlobFacts {
  std::uint64_t bytes = 0;   ///< size of the unpacked bytes
  std::uint64_t stored = 0;  ///< size of the file
  Hash128 content;           ///< hash of the unpacked bytes
  Hash128 key;               ///< hash of the key of the entry
  bool operator==(const BlobFacts&) const = default;
};

/// Packs `bytes` and writes them to `path`; `key` is the hash of the key of the entry. The file is written under
/// another name, flushed to the disk, and then renamed. An error leaves no file behind. FORMAT.md describes the layout.
Result<BlobFacts> writeBlob(const std::filesystem::path& path, std::string_view bytes, const Hash128& key,
                            const OnWritePhase& onPhase);

/// Reads the bytes of a blob. Errors: the file does not exist, or contradicts `facts`: its size, its content or its key
/// differs.
Result<std::string> readBlob(const std::filesystem::path& path, const BlobFacts& facts);

/// Returns whether a file in the folder of blobs is a temporary file of a writer that is running or was killed.
bool isUnfinishedBlob(const std::filesystem::path& path);

}  // namespace fusescope
