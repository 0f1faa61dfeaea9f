#pragma once

#include <filesystem>

#include "tuning/tune_search.h"

namespace fusescope {

/// Reads the evaluations of a state file (tuning/FORMAT.md). One that is not there holds none. Errors: it is no state
/// file, or of another network, other inputs or options than `key` stands for.
Result<TuneMemory> readTuneState(const std::filesystem::path& path, const Hash128& key);
Status writeTuneState(const std::filesystem::path& path, const Hash128& key, const TuneMemory& memory);

}  // namespace fusescope
