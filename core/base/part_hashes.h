#pragma once

#include <optional>
#include <span>

#include "base/hash.h"
#include "base/mapped_file.h"

namespace fusescope {

/// While an object of this class lives, the hashes of parts of mapped files are wanted: who reads a part completely
/// also hashes it, so that it is not read again for that. When none lives any more, the hashes are forgotten.
/// Thread-safe, as the functions are.
class PartHashesWanted {
 public:
  PartHashesWanted();
  ~PartHashesWanted();
  PartHashesWanted(const PartHashesWanted&) = delete;
  PartHashesWanted& operator=(const PartHashesWanted&) = delete;
};

bool arePartHashesWanted();
/// Keeps the hash of `part`, which lies in `file`, if hashes are wanted.
void keepPartHash(const MappedFile& file, std::span<const std::byte> part, const Hash128& hash);
/// Returns the hash of `part` if it lies in one of `files` and its hash was kept.
std::optional<Hash128> partHash(std::span<const std::shared_ptr<const MappedFile>> files,
                                std::span<const std::byte> part);

}  // namespace fusescope
