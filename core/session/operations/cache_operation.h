#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "session/operations/option.h"

namespace fusescope {

/// The file of kept entries that `cache export` writes or `cache import` reads.
struct CacheExportSettings {
  std::string output;

  std::vector<Option> options();
};
struct CacheImportSettings {
  std::string file;

  std::vector<Option> options();
};

/// What `cache clear` removes.
struct CacheClearSettings {
  bool withTimes = false;  ///< also the measured times of kernels

  std::vector<Option> options();
};

/// What `cache gc` keeps.
struct CacheGcSettings {
  std::optional<std::int64_t> limit;  ///< in bytes; nothing: the limit of the store
  bool isShared = false;              ///< of the folder that a team shares, which has no limit of its own

  std::vector<Option> options();
};

}  // namespace fusescope
