#pragma once

#include <atomic>
#include <cstdint>

namespace fusescope {

/// Adds one to what steps of several executors count beside each other. It is read when none of them runs.
inline void countBesideOthers(std::int64_t& count) {
  std::atomic_ref(count).fetch_add(1, std::memory_order_relaxed);
}

}  // namespace fusescope
