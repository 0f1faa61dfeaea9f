#include "tests/support/metered/allocations.h"

#include <atomic>
#include <new>

#if defined(FUSESCOPE_HAS_MIMALLOC)
#include <mimalloc.h>
#endif

namespace {

thread_local long asked = 0;
std::atomic<fusescope::test::AllocationWatch> watching = nullptr;

[[maybe_unused]] void note(std::size_t bytes) {
  ++asked;
  if (const auto watch = watching.load(std::memory_order_relaxed)) watch(bytes);
}

}  // namespace

#if defined(FUSESCOPE_HAS_MIMALLOC)
// The functions that a program defines replace those of the allocator's library.
extern "C" {
void* malloc(std::size_t bytes) noexcept {
  note(bytes);
  return mi_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) noexcept {
  note(count * bytes);
  return mi_calloc(count, bytes);
}
void* realloc(void* memory, std::size_t bytes) noexcept {
  note(bytes);
  return mi_realloc(memory, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  note(bytes);
  return mi_memalign(alignment, bytes);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) noexcept {
  note(bytes);
  return mi_posix_memalign(memory, alignment, bytes);
}
}
void* operator new(std::size_t bytes) {
  note(bytes);
  return mi_new(bytes);
}
void* operator new[](std::size_t bytes) {
  note(bytes);
  return mi_new(bytes);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  note(bytes);
  return mi_new_aligned(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  note(bytes);
  return mi_new_aligned(bytes, static_cast<std::size_t>(alignment));
}
#endif

namespace fusescope::test {

long allocations() {
  return asked;
}

void watchAllocations(AllocationWatch watch) {
  watching = watch;
}

}  // namespace fusescope::test
