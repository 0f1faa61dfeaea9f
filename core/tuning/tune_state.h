#pragma once

#include <filesystem>

#include "tuning/tune_search.h"

namespace fusescope {

/// Reads the evaluations of a state file (tuning/FORMAT.md); none if the file does not exist. It is an error if the
/// file is not a state file, or if it was made for another network, other inputs or other options than those in `key`.
Result<TuneMemory> readTuneState(const std::filesystem::path& path, const Hash128& key);
Status writeTuneState(const std::filesystem::path& path, const Hash128& key, const TuneMemory& memory);

}  // namespace fusescope
