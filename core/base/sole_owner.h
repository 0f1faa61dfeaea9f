#pragma once

#include <atomic>
#include <memory>

#include "base/sanitizers.h"

namespace fusescope {

/// Returns whether `pointer` is the only copy. If so, everything that other owners did with the object, in any thread,
/// has happened before this returns, so that the object may be changed.
template <class T>
bool isSoleOwner(const std::shared_ptr<T>& pointer) {
  if (pointer.use_count() != 1) return false;
#if FUSESCOPE_THREAD_SANITIZER
  std::shared_ptr<T>(pointer).reset();  // acquires as the fence does, of which ThreadSanitizer knows nothing
#else
  std::atomic_thread_fence(std::memory_order_acquire);  // whoever dropped the last copy released it
#endif
  return true;
}

}  // namespace fusescope
