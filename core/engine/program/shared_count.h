#pragma once

#include <atomic>
#include <cstdint>

namespace fusescope {

/// Increments a counter that steps of several executors share while they run. It may be read only while none of them
/// runs.
inline void countBesideOthers(std::int64_t& count) {
  std::atomic_ref(count).fetch_add(1, std::memory_order_relaxed);
}

}  // namespace fusescope
