#pragma once

#include <cstddef>

#include "base/sanitizers.h"

namespace fusescope::test {

/// A sanitizer replaces the allocator with its own, so that nothing is counted below it.
constexpr bool kCountsAllocations = FUSESCOPE_ADDRESS_SANITIZER == 0 && FUSESCOPE_THREAD_SANITIZER == 0;

/// How often the calling thread has asked for memory since it began; 0 where kCountsAllocations is false. It is a
/// measure of the thread's work that neither the machine nor its load changes: code that makes something for every node
/// of a network asks at least once for each.
long allocations();

/// Is called for each request of any thread with its bytes, until another one is set; null: none is. It must not ask
/// for memory itself.
using AllocationWatch = void (*)(std::size_t bytes);
void watchAllocations(AllocationWatch watch);

}  // namespace fusescope::test
