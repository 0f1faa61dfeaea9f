#pragma once

#include <atomic>
#include <memory>

#include "base/sanitizers.h"

namespace fusescope {

/// Whether nobody else has a copy of `pointer`. Then all that others did with what it points at, in whatever thread,
/// has happened before, and it may be changed.
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
