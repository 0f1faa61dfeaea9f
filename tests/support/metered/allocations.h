#pragma once

#include <cstddef>

#include "base/sanitizers.h"

namespace fusescope::test {

/// Sanitizers replace the allocator, so that allocations cannot be counted with them.
constexpr bool kCountsAllocations = FUSESCOPE_ADDRESS_SANITIZER == 0 && FUSESCOPE_THREAD_SANITIZER == 0;

/// Returns how often the calling thread has allocated memory since it began, or 0 if kCountsAllocations is false. This
/// measures the thread's work independently of the machine and its load: code that makes something for every node of a
/// network allocates at least once for each.
long allocations();

/// The watch is called for each allocation of any thread, with its size in bytes, until another watch is set; null
/// removes it. The watch must not allocate memory itself.
using AllocationWatch = void (*)(std::size_t bytes);
void watchAllocations(AllocationWatch watch);

}  // namespace fusescope::test
