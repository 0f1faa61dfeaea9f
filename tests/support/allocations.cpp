#include "tests/support/allocations.h"

#include <cstddef>
#include <new>

#if defined(FUSESCOPE_HAS_MIMALLOC)
#include <mimalloc.h>
#endif

namespace {

thread_local long asked = 0;

}  // namespace

#if defined(FUSESCOPE_HAS_MIMALLOC)
// What a program defines itself takes the place of what the allocator's library does.
extern "C" {
void* malloc(std::size_t bytes) noexcept {
  ++asked;
  return mi_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) noexcept {
  ++asked;
  return mi_calloc(count, bytes);
}
void* realloc(void* memory, std::size_t bytes) noexcept {
  ++asked;
  return mi_realloc(memory, bytes);
}
}
void* operator new(std::size_t bytes) {
  ++asked;
  return mi_new(bytes);
}
void* operator new[](std::size_t bytes) {
  ++asked;
  return mi_new(bytes);
}
#endif

namespace fusescope::test {

long allocations() {
  return asked;
}

}  // namespace fusescope::test
