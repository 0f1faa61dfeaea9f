#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "cache/disk_store.h"
#include "cache/shared_blob.h"

namespace fusescope {

/// What was written into a file of kept entries.
struct KeptFileWritten {
  std::int64_t entries = 0;
  std::int64_t bytes = 0;  ///< of the file
};

/// Writes the entries of `store` that are valid on other machines into one file, each signed with `by` (FORMAT.md). An
/// empty key only shows that nothing was damaged. The file is complete or unchanged. Errors: it cannot be written.
Result<KeptFileWritten> writeKeptFile(DiskStore& store, const std::filesystem::path& path, const SigningKey& by);

/// What was taken from a file of kept entries.
struct KeptFileRead {
  std::int64_t kept = 0;     ///< entries that the store keeps now
  std::int64_t known = 0;    ///< entries that the store had already
  std::int64_t notKept = 0;  ///< entries that the store does not keep: too large for its limit, or it cannot be written
  std::vector<DamagedEntry> refused{};  ///< entries that are damaged or not signed with this key
};

/// Adds the entries of a file that writeKeptFile() wrote to `store`. Entries are accepted only if they are signed with
/// `by`. If that key is empty, nobody but this user may be able to write the file and its folder. Errors: the file
/// cannot be read, is not such a file or ends early, or others can write it.
Result<KeptFileRead> readKeptFile(DiskStore& store, const std::filesystem::path& path, const SigningKey& by);

}  // namespace fusescope
