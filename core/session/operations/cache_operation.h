#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "session/operations/option.h"

namespace fusescope {

/// What `cache gc` keeps.
struct CacheGcSettings {
  std::optional<std::int64_t> limit;  ///< in bytes; nothing: the limit of the store

  std::vector<Option> options();
};

}  // namespace fusescope
