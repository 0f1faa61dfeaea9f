#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "base/result.h"

namespace fusescope {

/// How far the writing of an entry is. Tests stop there: they end the process, or have the step fail.
enum class WritePhase {
  Begun,    ///< the temporary file is there, and empty
  Half,     ///< half of it is written
  Written,  ///< all of it is
  Flushed,  ///< and is on the disk
  Renamed,  ///< it has its name; nobody knows it yet
  Listed,   ///< the index is about to be committed
  Done      ///< the index knows it
};
/// Called at every phase. An error makes the writing fail there, as a full disk would.
using OnWritePhase = std::function<Status(WritePhase)>;

/// What the index knows of a blob.
struct BlobFacts {
  std::uint64_t bytes = 0;   ///< unpacked
  std::uint64_t stored = 0;  ///< of the file
  Hash128 content;           ///< of the unpacked bytes
  Hash128 key;               ///< of what it was kept for
  bool operator==(const BlobFacts&) const = default;
};

/// Packs `bytes`, kept for what `key` is the hash of, and writes them to `path`: under another name first, flushed to
/// the disk, then renamed. Errors leave nothing there. FORMAT.md has the layout.
Result<BlobFacts> writeBlob(const std::filesystem::path& path, std::string_view bytes, const Hash128& key,
                            const OnWritePhase& onPhase);

/// The bytes of a blob. Errors: the file is not there, or is not what `facts` say: shorter or longer, another content,
/// kept for another key.
Result<std::string> readBlob(const std::filesystem::path& path, const BlobFacts& facts);

/// Whether a file in the folder of blobs is one that is being written, or was when its writer was ended.
bool isUnfinishedBlob(const std::filesystem::path& path);

}  // namespace fusescope
